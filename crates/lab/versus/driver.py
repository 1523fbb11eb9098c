"""What all drivers share: requests as JSON lines on standard input, answers on standard output.

  {"do": "about"}                                            -> {"version": …, "notes": […]}
  {"do": "compress", "messages": […], "target": N, "window": N} -> {"messages": […], "seconds": …}
  {"do": "begin", "window": N}                               -> {}
  {"do": "turn", "messages": [new ones], "used": N}          -> {"messages": [what is sent], "seconds": …}
  {"do": "redact", "texts": […]}                             -> {"texts": […], "seconds": …}
  {"do": "memory"}                                           -> {"megabytes": …}

A driver that cannot do one of them answers {"error": "unsupported"}. Seconds are processor seconds of the driver, of the
processes that it started and waited for, and of those that it names in `processes`: other work on the machine does not count.
"""
import json
import os
import resource
import sys
import traceback


class Peer:
    """A peer on trial. `turn` says what a host would send, given what is new since the last request."""

    version = "?"
    notes = ()

    def processes(self):
        """Ids of running processes that work for it."""
        return []


class Unsupported(Exception):
    pass


def cpu(peer):
    used = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    tick = os.sysconf("SC_CLK_TCK")
    for process in peer.processes():
        fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
        used += (int(fields[11]) + int(fields[12])) / tick
    return used


def megabytes(peer):
    """Peak memory of whoever needed most; a library is measured with its interpreter."""
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    if getattr(peer, "works_in_children", False):
        peaks = peaks[1:]
    for process in peer.processes():
        lines = open(f"/proc/{process}/status").read().splitlines()
        peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return max(peaks) / 1024


def answer(peer, request):
    what = request["do"]
    if what == "about":
        return {"version": peer.version, "notes": list(peer.notes)}
    if what == "memory":
        return {"megabytes": megabytes(peer)}
    if not hasattr(peer, what):
        return {"error": "unsupported"}
    if what == "begin":
        peer.begin(request["window"])
        return {}
    before = cpu(peer)
    if what == "compress":
        result = {"messages": peer.compress(request["messages"], request["target"], request["window"])}
    elif what == "turn":
        result = {"messages": peer.turn(request["messages"], request["used"])}
    else:
        result = {"texts": [peer.redact(text) for text in request["texts"]]}
    return result | {"seconds": round(getattr(peer, "seconds", None) or cpu(peer) - before, 4)}


def serve(make):
    """Answers until the input ends. What a peer prints must not get between the answers."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        peer = make()
        problem = None
    except Exception:
        problem = traceback.format_exc(limit=-3)
    for line in sys.stdin:
        try:
            reply = {"error": problem} if problem else answer(peer, json.loads(line))
        except Unsupported:
            reply = {"error": "unsupported"}
        except Exception:
            reply = {"error": traceback.format_exc(limit=-3)}
        out.write(json.dumps(reply) + "\n")
        out.flush()
    if not problem and hasattr(peer, "close"):
        peer.close()
