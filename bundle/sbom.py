"""Print the SBOM of a folder of wheels as CycloneDX JSON: each wheel with its digest, licence and dependencies.

usage: python bundle/sbom.py WHEELS > sbom.cdx.json

The same wheels give the same bytes: no time, and a serial number computed from the digests. Extras that no wheel of the
folder serves are left out of the dependencies. Specification: CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/
"""

import email
import hashlib
import sys
import uuid
import zipfile
from email.message import Message
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def metadata(wheel: Path) -> Message:
    """Return the core metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
        return email.message_from_bytes(archive.read(name))


def component(wheel: Path, about: Message) -> Component:
    """Return the component of a wheel."""
    name, version = canonicalize_name(about["Name"]), about["Version"]
    text = about["License-Expression"] or about["License"] or ""
    classifiers = [row.split(" :: ")[-1] for row in about.get_all("Classifier", ()) if row.startswith("License :: ")]
    licence = text if 0 < len(text) < 80 else " OR ".join(dict.fromkeys(classifiers))
    purl = PackageURL("pypi", name=name, version=version)
    return Component(
        type=ComponentType.LIBRARY, name=name, version=version, purl=purl, bom_ref=str(purl),
        description=about["Summary"], licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(wheel.read_bytes()).hexdigest())],
    )  # fmt: skip


def needed(about: Message) -> set[str]:
    """Return the names that a wheel depends on here; each extra counts, since the bundle has those of rackcheck."""
    rows = map(Requirement, about.get_all("Requires-Dist", ()))
    extras = ("", *about.get_all("Provides-Extra", ()))
    held = (r for r in rows if r.marker is None or any(r.marker.evaluate({"extra": extra}) for extra in extras))
    return {canonicalize_name(requirement.name) for requirement in held}


def sbom(folder: Path) -> str:
    """Return the SBOM of the wheels in a folder, one of which must be rackcheck's; raises SystemExit otherwise."""
    found = {wheel: metadata(wheel) for wheel in sorted(folder.glob("*.whl"))}
    components = {canonicalize_name(about["Name"]): component(wheel, about) for wheel, about in found.items()}
    if "rackcheck" not in components:
        raise SystemExit(f"{folder} has no wheel of rackcheck")
    digests = "".join(one.hashes[0].content for one in components.values())
    bom = Bom(components=components.values(), serial_number=uuid.uuid5(uuid.NAMESPACE_URL, digests))
    ours = components["rackcheck"]
    whole = Component(type=ComponentType.APPLICATION, name="rackcheck-bundle", version=ours.version, bom_ref="bundle")
    bom.metadata.component = whole
    bom.register_dependency(whole, [ours])
    for about in found.values():
        here = components[canonicalize_name(about["Name"])]
        bom.register_dependency(here, [components[name] for name in needed(about) if name in components])
    bom.metadata.timestamp = None
    return JsonV1Dot6(bom).output_as_string(indent=2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(sbom(Path(sys.argv[1])))
