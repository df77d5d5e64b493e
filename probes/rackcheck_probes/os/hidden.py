"""What a question says on the node to tell a file that is not there from one that this login may not see.

`[ -e FILE ]` is false for both: where the folder is closed the kernel answers EACCES, which `test` keeps to itself.
"""

THERE = """\
there() {
[ ! -e "$1" ] || return 0
w=$({ : <"$1"; } 2>&1)
case $w in *[Nn]'o such file'*|*[Nn]'ot a directory'*) return 1;; esac
echo "$1: ${w##*: }" >&2; exit 2
}
"""
"""`there FILE`: 0 if it is there, 1 if not; what is hidden ends the shell with 2 and the kernel's reason.

The shell's own opening of the file asks the kernel: no program is started, and nothing is opened that `test` has seen.
`there FOLDER/.` asks whether the folder can be entered; `(there FILE)` leaves the question going on.
"""
