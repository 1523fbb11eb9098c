"""A program in a real terminal: keys go in, the screen comes out. The terminal is tmux, with a server of its own."""
import os
import shutil
import signal
import subprocess
import time

COLUMNS, ROWS = 160, 50
LOOK_SECONDS = 0.2
# Between words and the key that sends them: programs take what arrives at once for a paste, and the key for a new line of it.
PAUSE_SECONDS = 2
CLOSE_SECONDS = 10


def is_there():
    return shutil.which("tmux") is not None


class Terminal:
    def __init__(self, folder, command, environment, project):
        self.tmux = ["tmux", "-S", str(folder / "tmux.sock"), "-f", "/dev/null"]
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        environment = {**environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        subprocess.run([*self.tmux, "new-session", "-d", *size, "-c", str(project), *command], env=environment, check=True)

    def send(self, words, is_done, what, seconds):
        """Types words, sends them, and waits until they had their effect. The key is pressed again where nothing happens. A TimeoutError
        tells what the screen showed instead."""
        self.run("send-keys", "-l", words)
        self.until(is_done, what, seconds, between=lambda: self.run("send-keys", "Enter"))

    def screen(self):
        return self.run("capture-pane", "-p")

    def until(self, is_done, what, seconds, between=lambda: None):
        """Waits for something, and does something now and then in between."""
        end = time.monotonic() + seconds
        due = time.monotonic() + PAUSE_SECONDS
        while not is_done():
            now = time.monotonic()
            if now > end:
                raise TimeoutError(f"{what}: not after {seconds} s; the screen shows\n{self.screen().strip()}")
            if now > due:
                between()
                due = now + PAUSE_SECONDS
            time.sleep(LOOK_SECONDS)

    def close(self):
        """Ends the program and waits until it wrote its last file."""
        program = int(self.run("display-message", "-p", "#{pane_pid}") or 0)
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, check=False)
        end = time.monotonic() + CLOSE_SECONDS
        while program and is_running(program) and time.monotonic() < end:
            end_group(program)
            time.sleep(LOOK_SECONDS)

    def run(self, *arguments):
        done = subprocess.run([*self.tmux, *arguments], capture_output=True, text=True, timeout=10, check=False)
        return done.stdout


def is_running(process):
    try:
        os.kill(process, 0)
        return True
    except ProcessLookupError:
        return False


def end_group(process):
    """Ends a program of a terminal with what it started: each has a group of its own."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass
