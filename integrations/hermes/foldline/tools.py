"""The tools of `foldline mcp`, one short conversation with the program for each call. They keep no state between calls."""
import json
import subprocess

SECONDS = 30
VERSION = "2025-06-18"


class Tools:
    def __init__(self, program):
        self.program = program

    def schemas(self):
        """As functions of the Chat Completions API."""
        tools = self._ask("tools/list", {})["tools"]
        return [{"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]} for tool in tools]

    def call(self, name, arguments):
        """What a tool says; an error is a ValueError."""
        answer = self._ask("tools/call", {"name": name, "arguments": arguments})
        said = "\n".join(block.get("text", "") for block in answer["content"])
        if answer.get("isError"):
            raise ValueError(said)
        return said

    def _ask(self, method, parameters):
        hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "foldline-hermes", "version": "0.1.0"}}
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": method, "params": parameters},
        ]
        server = subprocess.Popen([self.program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    if "error" in answer:
                        raise ValueError(answer["error"].get("message", "the tool failed"))
                    return answer["result"]
            raise OSError(server.stderr.read().strip() or f"`{self.program} mcp` ended without an answer")
        finally:
            server.kill()
            server.communicate(timeout=SECONDS)
