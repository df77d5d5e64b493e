"""Patterns of addresses, ids and host names in the output of nodes and BMCs, for captures that hide them."""

import re

from rackcheck.base import identity_patterns as forms

LOOKS = re.compile(
    rf"(?P<uuid>(?<![0-9A-Fa-f]){forms.UUID}(?![0-9A-Fa-f]))"
    rf"|(?P<pairs>(?<![0-9A-Za-z])[0-9A-Fa-f]{{2}}(?P<sign>[:-]){forms.pairs('(?P=sign)', 5, 31)}(?![0-9A-Za-z]))"
    rf"|(?P<dotted>(?<![0-9A-Za-z.]){forms.DOTTED_MAC}(?![0-9A-Za-z.]))"
    rf"|(?P<guid>(?<![0-9A-Za-z:]){forms.GUID}(?![0-9A-Za-z:]))"
    rf"|(?P<ipv4>(?<![0-9A-Za-z_.]){forms.IPV4}(?![0-9A-Za-z_]|\.[0-9A-Za-z]))"
    rf"|(?P<ipv6>(?<![0-9A-Za-z:.]){forms.IPV6}(?![0-9A-Za-z:]))"
    rf"|(?P<mail>(?<![0-9A-Za-z.+-]){forms.MAIL}(?![\w-]))"
    r"|(?P<home>(?<=/home/)[^/:]+|(?<=/Users/)[^/:]+|(?<=/Accounts/)(?!\d+\b)[^/:]{4,})"
    r"|(?P<who>\b[A-Za-z_][\w.-]{1,31}(?=@[0-9]{4}-[0-9]{2}-[0-9]{2}T))"
    r"|(?P<url>(?<=://)[^/?#]{1,300})"
    rf"|(?P<host>(?<![\w.@-])(?<!(?<!/)/)(?:(?:{forms.LABEL}){{2,8}}{forms.TOP}"
    rf"|(?:{forms.LABEL}){{1,8}}{forms.PRIVATE_TOP})(?![\w-]|\.\w))"
)
"""`who` is a user before a date in a line of Slurm; a component of a path is not a `host`."""

NO_MAIL = re.compile(
    r"\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap)\Z|@(?:openssh|libssh)\.\w+\Z"
)
"""Texts with the form of a mail address that are units of systemd or algorithms of SSH."""

NO_HOST = re.compile(
    r"(?:io|com|org|net|xyz|localhost)\..*|.*\.localhost"
    r"|kernel\.(?:keys|pty|random|seccomp|yama)\..*|fs\.(?:epoll|fanotify|inotify|mqueue|nfs|quota|verity|xfs)\..*"
    r"|.*\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap|conf|cfg|json|ya?ml|toml|txt|log"
    r"|list|repo|sh|py|rules|ko|so|xz|gz|zst|bz2|zip|tar|tgz|bin|img|iso|efi|rom|cap|fwpkg|rpm|deb|dll|exe|xml|html?)"
)
"""Texts with the form of a host name that are names of D-Bus or containerd, sysctls, units of systemd, or files."""

RANGE = re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}-\Z")
"""The first of two addresses with a dash between them."""

BEFORE = 17
"""Number of characters before an address that `RANGE` needs: another address, a dash, and the character before both."""

KERNELS = re.compile(
    r"(?<=[ ])(?P<socket>[0-9A-F]{32}|[0-9A-F]{8})(?=:[0-9A-F]{4} )|(?<=\t)(?P<route>[0-9A-F]{8})(?=[ ]?\t)"
    r"|(?<![^ \n])(?P<route6>[0-9a-f]{32})(?= )"
)
"""Addresses in the kernel's tcp, tcp6, route and ipv6_route (Documentation/networking/proc_net_tcp.rst)."""
