"""What addresses, ids and names of hosts look like in the answers of nodes and BMCs, for captures that hide them."""

import re

_LABEL = r"(?:(?=[0-9-]{0,62}[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{0,62}\.)"
LOOKS = re.compile(
    r"(?P<uuid>(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Fa-f]))"
    r"|(?P<pairs>(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?P<sign>[:-])(?:[0-9A-Fa-f]{2}(?P=sign)){4,30}[0-9A-Fa-f]{2}"
    r"(?![0-9A-Za-z]))"
    r"|(?P<dotted>(?<![0-9A-Za-z.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![0-9A-Za-z.]))"
    r"|(?P<guid>(?<![0-9A-Za-z:])(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}(?![0-9A-Za-z:]))"
    r"|(?P<ipv4>(?<![0-9A-Za-z_.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z_]|\.[0-9A-Za-z]))"
    r"|(?P<ipv6>(?<![0-9A-Za-z:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.[0-9.]{5,11})?(?![0-9A-Za-z:]))"
    r"|(?P<mail>(?<![0-9A-Za-z.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-]))"
    r"|(?P<home>(?<=/home/)[^/:]+|(?<=/Users/)[^/:]+|(?<=/Accounts/)(?!\d+\b)[^/:]{4,})"
    r"|(?P<who>\b[A-Za-z_][\w.-]{1,31}(?=@[0-9]{4}-[0-9]{2}-[0-9]{2}T))"
    r"|(?P<url>(?<=://)[^/?#]{1,300})"
    rf"|(?P<host>(?<![\w.@-])(?<!(?<!/)/)(?:{_LABEL}{{2,8}}[A-Za-z]{{2,24}}"
    rf"|{_LABEL}{{1,8}}(?:corp|home|internal|intranet|lan|local|localdomain|private))(?![\w-]|\.\w))"
)
"""`who` told Slurm something, on a day; what is one word of a path is no `host`.

A host's whole name is of three words, or below what sites name their own: those of RFC 6762, appendix G, with `local`
(ibid., 3) and `localdomain`.
"""

NO_MAIL = re.compile(
    r"\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap)\Z|@(?:openssh|libssh)\.\w+\Z"
)
"""What has the form of a mail address and is a unit of systemd, or an algorithm of SSH."""

NO_HOST = re.compile(
    r"(?:io|com|org|net|xyz|localhost)\..*|.*\.localhost"
    r"|kernel\.(?:keys|pty|random|seccomp|yama)\..*|fs\.(?:epoll|fanotify|inotify|mqueue|nfs|quota|verity|xfs)\..*"
    r"|.*\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap|conf|cfg|json|ya?ml|toml|txt|log"
    r"|list|repo|sh|py|rules|ko|so|xz|gz|zst|bz2|zip|tar|tgz|bin|img|iso|efi|rom|cap|fwpkg|rpm|deb|dll|exe|xml|html?)"
)
"""What has the form of a host's name and is one of D-Bus or containerd, of a sysctl, a unit, or a file."""

RANGE = re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}-\Z")
"""The first of two addresses that a dash parts."""

BEFORE = 17
"""Characters before the second one that tell: an address, a dash, and one sign before them."""

KERNELS = re.compile(
    r"(?<=[ ])(?P<socket>[0-9A-F]{32}|[0-9A-F]{8})(?=:[0-9A-F]{4} )|(?<=\t)(?P<route>[0-9A-F]{8})(?=[ ]?\t)"
    r"|(?<![^ \n])(?P<route6>[0-9a-f]{32})(?= )"
)
"""Addresses in the kernel's tcp, tcp6, route and ipv6_route (Documentation/networking/proc_net_tcp.rst)."""
