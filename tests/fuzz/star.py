"""A drawn star as a platform file, each of whose links may be several in a row."""

import tables

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
"""
SERVERS = 4  # hosts beyond those of the workers, which servers may take


def star(workers, speed, bandwidth, latency, parts):
    """Hosts whose NICs meet at a switch: half the latency is that of the way up, half that of the way down."""
    hosts, lines = range(workers + SERVERS), []
    lines += [f'<host id="h{host}" speed="{speed}f"/>' for host in hosts]
    lines += [f'<link id="{way}{host}p{part}" bandwidth="{bandwidth}Bps" latency="{latency / 2 / parts}s"/>'
              for host in hosts for way in ("up", "down") for part in range(parts)]
    for one in hosts:
        for other in hosts:
            if one != other:
                links = [f"up{one}p{part}" for part in range(parts)] + [f"down{other}p{part}" for part in range(parts)]
                lines.append(f'<route src="h{one}" dst="h{other}" symmetrical="NO">'
                             + "".join(f'<link_ctn id="{link}"/>' for link in links) + "</route>")
    return HEAD + "\n".join("    " + line for line in lines) + "\n  </zone>\n</platform>\n"


def with_platform(case, parts):
    """The results of a case on a star's file, each of whose links is so many in a row."""
    keys = ("speed", "bandwidth", "latency")
    speed, bandwidth, latency = (tables.quantity(case.at(f"cluster.{key}"))[1] for key in keys)
    file = case.scenario.with_name(f"star-{parts}-{case.scenario.stem}.xml")
    file.write_text(star(case.at("cluster.workers"), speed, bandwidth, latency, parts), encoding="utf-8")
    given = {f"cluster.{key}": None for key in ("topology", "speed", "bandwidth", "latency", "hosts", "device")}
    return case.runs(tables.with_values(case.tree, given | {"cluster.platform": file.name}))
