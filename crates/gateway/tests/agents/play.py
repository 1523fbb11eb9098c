"""One run of a client from its first prompt to its last, and what came of it."""
import json

from scenarios import FACTS, MEMORY, ORDERS

# One client run may take so long, and so long for each call besides: a client that goes on asking without end is stopped then.
LIMIT_SECONDS, CALL_SECONDS = 120, 20


def converse(stage, client, place, scenario):
    """Says all prompts; whoever was killed or gave up is resumed. Yields how each run of the client ended."""
    kills = dict(scenario.kills)
    is_first = True
    for part, prompt in enumerate(scenario.prompts()):
        due = sum(scenario.parts[: part + 1])
        for attempt in range(3):
            words = prompt if attempt == 0 else "Continue where you were."
            limit = LIMIT_SECONDS + CALL_SECONDS * scenario.parts[part]
            end = stage.run(client, place, client.ask(place, words, is_first), limit, kills)
            is_first = is_first and not stage.log()
            yield end
            if end == "hung" or (stage.calls() >= due and end == "ended"):
                break
        if part == scenario.compacts_after and (command := client.compact(place)):
            yield stage.run(client, place, command, LIMIT_SECONDS, {})


def measure(stage, scenario, ends):
    log = stage.log()
    steps = [entry for entry in log if entry["purpose"] == "step"]
    # What a client asks beside its conversation is passed on as it is: gemini-cli's look for loops begins with a turn of the model,
    # which Gemini refuses with and without a gateway.
    asides = [entry["refusal"] for entry in log if entry["refusal"] and entry["purpose"] == "aside"]
    refusals = [entry["refusal"] for entry in log if entry["refusal"] and entry["purpose"] != "aside"]
    total = {key: sum(entry["traffic"][key] for entry in log) for key in ("input", "cache_read", "cache_write", "cache_write_long")}
    prompt = sum(total.values())
    return {
        "is_finished": stage.calls() >= sum(scenario.parts) and "hung" not in ends,
        "requests": len(steps),
        "refused": len(refusals),
        "refusals": sorted(set(refusals))[:3],
        "refused_asides": sorted(set(asides)),
        "rewrites": sum(entry["is_rewrite"] for entry in steps),
        "summaries": sum(entry["purpose"] == "summary" for entry in log),
        "cached": round(total["cache_read"] / max(prompt, 1), 4),
        "tokens": prompt,
        "dollars": round(sum(entry["dollars"] for entry in log), 4),
        # A client that compacts by itself leaves some of its instructions out.
        "lost": lost(stage, is_checking_instructions=not any(entry["purpose"] == "summary" for entry in log)),
    }


def strings(value):
    """All texts of a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def instructions(body):
    """What stands in for the system: fields of its own, and messages with that role."""
    fields = [body.get(key) for key in ("system", "instructions", "systemInstruction")]
    messages = body.get("messages") or body.get("input") or []
    said = [message for message in messages if isinstance(message, dict) and message.get("role") in ("system", "developer")]
    # Claude Code's first block counts its builds, by the first message.
    return [text for text in strings([fields, [message.get("content") for message in said]]) if len(text) > 40 and "billing-header" not in text]


def lost(stage, is_checking_instructions):
    """What the last request should say and does not."""
    try:
        first, last = (json.loads((stage.work / f"{name}.json").read_text()) for name in ("first", "last"))
    except (OSError, ValueError):
        return ["everything"]
    text = "\n".join(strings(last))
    missing = [words for words in [MEMORY, *ORDERS, *FACTS] if words not in text]
    expected = instructions(first) if is_checking_instructions else []
    return missing + [f"instructions: {words[:40]!r}" for words in expected if words not in text]
