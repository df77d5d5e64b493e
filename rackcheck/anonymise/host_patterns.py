"""Regular expressions for addresses, ids and host names, which are hidden in captures of nodes and BMCs."""

from rackcheck.base import identity_patterns as forms
from rackcheck.model.regex import regex

LOOKS = regex(
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
"""Matches texts with the form of an identity; the group `host` does not match a path segment.

The group `who` matches a user's name before `@` and a time, as in Slurm's output.
"""

NO_MAIL = regex(
    r"\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap)\Z|@(?:openssh|libssh)\.\w+\Z"
)
"""Matches names of systemd units and SSH algorithms that have the form of a mail address."""

NO_HOST = regex(
    r"(?:io|com|org|net|xyz|localhost)\..*|.*\.localhost"
    r"|kernel\.(?:keys|pty|random|seccomp|yama)\..*|fs\.(?:epoll|fanotify|inotify|mqueue|nfs|quota|verity|xfs)\..*"
    r"|.*\.(?:service|socket|target|timer|mount|automount|slice|scope|device|path|swap|conf|cfg|json|ya?ml|toml|txt|log"
    r"|list|repo|sh|py|rules|ko|so|xz|gz|zst|bz2|zip|tar|tgz|bin|img|iso|efi|rom|cap|fwpkg|rpm|deb|dll|exe|xml|html?)"
)
"""Matches names of D-Bus, containerd, sysctls, systemd units and files that have the form of a host name."""

RANGE = regex(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}-\Z")
"""Matches an IPv4 address and a dash at the end of a text: the first address of a range."""

BEFORE = 17
"""Number of characters before an IPv4 address that RANGE examines: an address (up to 15), a dash, and one more."""

KERNELS = regex(
    r"(?<=[ ])(?P<socket>[0-9A-F]{32}|[0-9A-F]{8})(?=:[0-9A-F]{4} )|(?<=\t)(?P<route>[0-9A-F]{8})(?=[ ]?\t)"
    r"|(?<![^ \n])(?P<route6>[0-9a-f]{32})(?= )"
)
"""Matches addresses in /proc/net/{tcp,tcp6,route,ipv6_route} (Documentation/networking/proc_net_tcp.rst)."""
