"""The four wire formats of language models: what a request asks, and an answer whole or as events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from scenarios import Step, decide, marked
from toolset import Tool, default

Json: TypeAlias = Any


class Event(NamedTuple):
    data: Json
    name: str | None = None


class Pause(NamedTuple):
    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    whole: Callable[[], Json]
    events: Callable[[], Iterator[Event | Pause]]


def pieces(step: Step) -> Iterator[str | Pause]:
    """The text as it streams."""
    if step.slow:
        for word in step.text.split(" "):
            yield f"{word} "
            yield Pause(step.slow)
    else:
        yield from cut(step.text)


def cut(text: str, size: int = 24) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def text_of(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        text_of(part.get("text") or part.get("content") or "") if isinstance(part, dict) else str(part)
        for part in parts
    )


def next_step(
    turns: Sequence[Mapping[str, Json]],
    said: Callable[[Mapping[str, Json]], str | None],
    is_round: Callable[[Mapping[str, Json], Mapping[str, Json] | None], bool],
    tools: Sequence[Tool],
) -> Step:
    """`said` is the text of a turn of the person's; `is_round` tells whether the model called tools there."""
    scenario, start = None, 0
    for number, turn in enumerate(turns):
        if (text := said(turn)) is not None and (found := marked(text)):
            scenario, start = found, number + 1
    rest = turns[start:]
    rounds = sum(is_round(turn, rest[i - 1] if i else None) for i, turn in enumerate(rest))
    return decide(scenario, rounds, tools)


# -- OpenAI chat completions -------------------------------------------------------------------


def chat(body: Mapping[str, Json], number: int) -> Reply:
    tools = [
        Tool(tool["function"]["name"], tool["function"].get("parameters") or {})
        for tool in body.get("tools") or ()
        if tool.get("type") == "function"
    ]
    step = next_step(
        body.get("messages", []),
        lambda turn: text_of(turn.get("content")) if turn.get("role") == "user" else None,
        lambda turn, _: turn.get("role") == "assistant" and bool(turn.get("tool_calls")),
        tools,
    )
    model = body.get("model", "mock-model")
    base = {"id": f"chatcmpl-{number}", "created": int(time.time()), "model": model}
    usage = {"prompt_tokens": 100 + number, "completion_tokens": 20, "total_tokens": 120 + number}
    calls = [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(step.calls)
    ]
    reason = "tool_calls" if calls else "stop"

    def whole() -> Json:
        message = {"role": "assistant", "content": step.text or None}
        if calls:
            message |= {"tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**base, "object": "chat.completion", "choices": [choice], "usage": usage}

    def events() -> Iterator[Event | Pause]:
        def delta(value: Json, finish: str | None = None) -> Event:
            choice = {"index": 0, "delta": value, "finish_reason": finish}
            return Event({**base, "object": "chat.completion.chunk", "choices": [choice]})

        yield delta({"role": "assistant", "content": ""})
        for piece in cut(step.thought):
            yield delta({"reasoning_content": piece})
        for piece in pieces(step):
            yield piece if isinstance(piece, Pause) else delta({"content": piece})
        for index, call in enumerate(calls):
            function = call["function"]
            begun = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
            yield delta({"tool_calls": [begun]})
            for piece in cut(function["arguments"], 60):
                yield delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield delta({}, reason)
        yield Event({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        yield Event("[DONE]")

    return Reply(whole, events)


# -- OpenAI responses --------------------------------------------------------------------------

RESPONSES_CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
BETWEEN = {"function_call_output", "custom_tool_call_output", "message"}


def responses(body: Mapping[str, Json], number: int) -> Reply:
    given = body.get("input", [])
    turns = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
    tools: list[Tool] = []
    for tool in body.get("tools") or ():
        match tool.get("type"):
            case "function":
                tools.append(Tool(tool["name"], tool.get("parameters") or {}))
            case "custom":
                tools.append(Tool(tool["name"], custom=True))
            case "local_shell":
                tools.append(Tool("local_shell"))
            case _:
                pass

    # calls in one answer are one round, whatever stands between them that is no result
    turns = [turn for turn in turns if turn.get("type", "message") in RESPONSES_CALLS | BETWEEN]
    step = next_step(
        turns,
        lambda turn: text_of(turn.get("content")) if turn.get("role") == "user" else None,
        lambda turn, before: (
            turn.get("type") in RESPONSES_CALLS
            and not (before is not None and before.get("type") in RESPONSES_CALLS)
        ),
        tools,
    )
    items = list(_items(step, number))
    base = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time.time()),
        "model": body.get("model", "mock-model"),
    }
    usage = {
        "input_tokens": 100 + number,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 120 + number,
    }

    def whole() -> Json:
        return {**base, "status": "completed", "output": items, "usage": usage}

    def events() -> Iterator[Event | Pause]:
        count = 0

        def event(kind: str, **fields: Json) -> Event:
            nonlocal count
            count += 1
            return Event({"type": kind, "sequence_number": count, **fields}, kind)

        yield event("response.created", response={**base, "status": "in_progress", "output": []})
        for index, item in enumerate(items):
            empty = {"arguments": ""} if "arguments" in item else {"input": ""} if "input" in item else {}
            where = {"item_id": item["id"], "output_index": index}
            begun = {**item, **empty}
            if item["type"] in ("message", "reasoning"):
                begun |= {"content": [], "summary": []}
            yield event("response.output_item.added", output_index=index, item=begun)
            for kind, fields in _deltas(item, step):
                yield kind if isinstance(kind, Pause) else event(kind, **where, **fields)
            yield event("response.output_item.done", output_index=index, item=item)
        yield event("response.completed", response=whole())

    return Reply(whole, events)


def _items(step: Step, number: int) -> Iterator[dict[str, Json]]:
    if step.thought:
        summary = [{"type": "summary_text", "text": step.thought}]
        yield {"id": f"rs_{number}", "type": "reasoning", "summary": summary}
    if step.text:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        said = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        yield {"id": f"msg_{number}", **said}
    for index, call in enumerate(step.calls):
        common = {"status": "completed", "call_id": f"call_{number}_{index}"}
        if call.name == "local_shell":
            action = {"type": "exec", "command": call.arguments["command"], "env": {}}
            yield {"id": f"lsh_{number}_{index}", "type": "local_shell_call", **common, "action": action}
        elif call.custom:
            kind = {"type": "custom_tool_call", "name": call.name, "input": call.arguments}
            yield {"id": f"ctc_{number}_{index}", **kind, **common}
        else:
            kind = {"type": "function_call", "name": call.name, "arguments": json.dumps(call.arguments)}
            yield {"id": f"fc_{number}_{index}", **kind, **common}


def _deltas(item: Mapping[str, Json], step: Step) -> Iterator[tuple[str | Pause, dict[str, Json]]]:
    match item["type"]:
        case "reasoning":
            part = {"summary_index": 0}
            empty = {"type": "summary_text", "text": ""}
            yield "response.reasoning_summary_part.added", {**part, "part": empty}
            for piece in cut(step.thought):
                yield "response.reasoning_summary_text.delta", {**part, "delta": piece}
            yield "response.reasoning_summary_text.done", {**part, "text": step.thought}
        case "message":
            part = {"content_index": 0}
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield "response.content_part.added", {**part, "part": empty}
            for piece in pieces(step):
                if isinstance(piece, Pause):
                    yield piece, {}
                else:
                    yield "response.output_text.delta", {**part, "delta": piece}
            yield "response.output_text.done", {**part, "text": step.text}
        case "custom_tool_call":
            yield "response.custom_tool_call_input.delta", {"delta": item["input"]}
            yield "response.custom_tool_call_input.done", {"input": item["input"]}
        case "function_call":
            yield "response.function_call_arguments.delta", {"delta": item["arguments"]}
            yield "response.function_call_arguments.done", {"arguments": item["arguments"]}
        case _:
            pass


# -- Anthropic messages ------------------------------------------------------------------------


def messages(body: Mapping[str, Json], number: int) -> Reply:
    def said(turn: Mapping[str, Json]) -> str | None:
        content = turn.get("content")
        if isinstance(content, list):  # a tool's result may quote the scenario: it does not count
            content = [part for part in content if part.get("type") == "text"]
        return text_of(content) if turn.get("role") == "user" else None

    def is_round(turn: Mapping[str, Json], _: object) -> bool:
        content = turn.get("content")
        return (
            turn.get("role") == "assistant"
            and isinstance(content, list)
            and any(part.get("type") == "tool_use" for part in content)
        )

    tools = [Tool(t["name"], t.get("input_schema") or {}) for t in body.get("tools") or () if "name" in t]
    step = next_step(body.get("messages", []), said, is_round, tools)
    thinking = (body.get("thinking") or {"type": "disabled"}).get("type") != "disabled"
    content: list[dict[str, Json]] = []
    if step.thought and thinking:
        content.append({"type": "thinking", "thinking": step.thought, "signature": "bW9jaw=="})
    if step.text:
        content.append({"type": "text", "text": step.text})
    for index, call in enumerate(step.calls):
        used = {"type": "tool_use", "id": f"toolu_{number:06d}_{index}"}
        content.append({**used, "name": call.name, "input": call.arguments})
    reason = "tool_use" if step.calls else "end_turn"
    base = {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "mock-model"),
        "stop_sequence": None,
    }
    usage = {
        "input_tokens": 100 + number,
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }

    def whole() -> Json:
        return {**base, "content": content, "stop_reason": reason, "usage": usage}

    def events() -> Iterator[Event | Pause]:
        def event(kind: str, **fields: Json) -> Event:
            return Event({"type": kind, **fields}, kind)

        begun = {**base, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        yield event("message_start", message=begun)
        for index, block in enumerate(content):
            yield event("content_block_start", index=index, content_block=_emptied(block))
            for delta in _block_deltas(block, step):
                yield (
                    delta
                    if isinstance(delta, Pause)
                    else event("content_block_delta", index=index, delta=delta)
                )
            yield event("content_block_stop", index=index)
        ended = {"stop_reason": reason, "stop_sequence": None}
        yield event("message_delta", delta=ended, usage={"output_tokens": 20})
        yield event("message_stop")

    return Reply(whole, events)


def _emptied(block: Mapping[str, Json]) -> dict[str, Json]:
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {**block, **{key: value for key, value in empty.items() if key in block}}


def _block_deltas(block: Mapping[str, Json], step: Step) -> Iterator[dict[str, Json] | Pause]:
    match block["type"]:
        case "text":
            for piece in pieces(step):
                yield piece if isinstance(piece, Pause) else {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in cut(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            for piece in cut(json.dumps(block["input"]), 60):
                yield {"type": "input_json_delta", "partial_json": piece}


# -- Gemini ------------------------------------------------------------------------------------


def gemini(body: Mapping[str, Json], number: int) -> Reply:
    def said(turn: Mapping[str, Json]) -> str | None:
        texts = (part.get("text", "") for part in turn.get("parts", ()))
        return "\n".join(texts) if turn.get("role", "user") == "user" else None

    def is_round(turn: Mapping[str, Json], _: object) -> bool:
        return turn.get("role") == "model" and any("functionCall" in part for part in turn.get("parts", ()))

    tools = [
        Tool(f["name"], f.get("parametersJsonSchema") or f.get("parameters") or {})
        for group in body.get("tools") or ()
        for f in group.get("functionDeclarations") or ()
    ]
    step = next_step(body.get("contents", []), said, is_round, tools)
    asked = body.get("generationConfig") or {}
    if asked.get("responseMimeType") == "application/json" or asked.get("responseJsonSchema"):
        schema = asked.get("responseJsonSchema") or asked.get("responseSchema") or {}
        fields = (schema.get("properties") or {}).items()
        step = Step(json.dumps({name: default(value) for name, value in fields}))
    usage = {
        "promptTokenCount": 100 + number,
        "candidatesTokenCount": 20,
        "totalTokenCount": 120 + number,
    }
    calls = [
        {"functionCall": {"id": f"fc_{number}_{index}", "name": call.name, "args": call.arguments}}
        for index, call in enumerate(step.calls)
    ]

    def answer(parts: list[Json], finish: str | None = None) -> Json:
        candidate: dict[str, Json] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        about = {"usageMetadata": usage, "modelVersion": "mock-model", "responseId": f"r{number}"}
        return {"candidates": [candidate], **about}

    def whole() -> Json:
        return answer([*([{"text": step.text}] if step.text else []), *calls], "STOP")

    def events() -> Iterator[Event | Pause]:
        if step.thought:
            yield Event(answer([{"text": f"**Looking** {step.thought}", "thought": True}]))
        for piece in pieces(step):
            yield piece if isinstance(piece, Pause) else Event(answer([{"text": piece}]))
        if calls:
            yield Event(answer(calls))
        yield Event(answer([{"text": ""}], "STOP"))

    return Reply(whole, events)
