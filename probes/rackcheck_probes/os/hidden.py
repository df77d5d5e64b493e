"""Shell code that distinguishes a missing file from a file that the login is not allowed to see.

`[ -e FILE ]` is false for both files, because `test` does not show the error EACCES, which the kernel returns for a
file in an inaccessible folder.
"""

THERE = """\
there() {
[ ! -e "$1" ] || return 0
w=$({ : <"$1"; } 2>&1)
case $w in *[Nn]'o such file'*|*[Nn]'ot a directory'*) return 1;; esac
echo "$1: ${w##*: }" >&2; exit 2
}
"""
"""Defines `there FILE`: it returns 0 if the file exists, 1 if not, and exits with 2 and the reason if it is hidden.

To get the kernel's reason, the shell itself opens the file: no program is started. A file that `test` found is not
opened.
`there FOLDER/.` checks whether the folder can be entered. `(there FILE)` exits only a subshell; the script continues.
"""
