"""Shell code that distinguishes a missing file from a file that the login is not allowed to see.

The test `[ -e FILE ]` is false both for a missing file and for a file in a folder that the login may not enter, because
`test` hides which error the kernel returned.
"""

THERE = """\
there() {
[ ! -e "$1" ] || return 0
w=$({ : <"$1"; } 2>&1)
case $w in *[Nn]'o such file'*|*[Nn]'ot a directory'*) return 1;; esac
echo "$1: ${w##*: }" >&2; exit 2
}
"""
"""Shell function `there FILE`: it returns 0 if FILE exists, and 1 if FILE is missing.

If the login may not see FILE, `there` prints the kernel's error to stderr and exits with status 2. The shell itself
opens FILE to get the kernel's error, so no other program is started. `there` does not open a FILE that `test` finds.
`there FOLDER/.` checks whether the login may enter FOLDER. In a script, `(there FILE)` ends only the subshell, and the
script continues.
"""
