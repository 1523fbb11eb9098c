// Uses the dashboard as a person would: a scripted provider, a working agent, and a real browser.
// usage: node drive.mjs FOLDLINE CHROMIUM [--shots FOLDER] [--plain]
// `--plain`: without injected text, and pictures of one screen each, for the documentation.
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [foldline, executablePath, ...rest] = process.argv.slice(2);
const shots = rest[0] === "--shots" ? rest[1] : null;
const plainText = rest.includes("--plain");
if (shots) mkdirSync(shots, { recursive: true });
const KEY = ["agent", "key", "one"].join("-");
const INJECTED = plainText ? "" : `<img src=x onerror="window.hacked=1"></pre><script>window.hacked=2</script>`;

const folder = mkdtempSync(join(tmpdir(), "foldline-browser-"));
let failures = 0;
const check = (holds, what, detail = "") => {
  if (holds) return;
  failures += 1;
  console.error(`FAILED: ${what} ${detail}`);
};

// A provider that answers every request and reports what it cost.
const sent = [];
const provider = createServer((request, reply) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    sent.push(body);
    const prompt = Math.round(body.length / 4);
    const usage = { input_tokens: Math.round(prompt / 10), cache_read_input_tokens: prompt - Math.round(prompt / 10), cache_creation_input_tokens: 0, output_tokens: 12 };
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify({ id: "m", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "Go on." }], stop_reason: "end_turn", usage }));
  });
});
await new Promise((ready) => provider.listen(0, "127.0.0.1", ready));
const upstream = `http://127.0.0.1:${provider.address().port}`;

const env = { PATH: process.env.PATH, HOME: folder };
const gateways = [];
const served = async (store, ...settings) => {
  const sets = settings.flatMap((setting) => ["--set", setting]);
  const gateway = spawn(foldline, ["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--log-format", "json", "--window", "64000", ...sets, "--store", join(folder, store), "--upstream-anthropic", upstream, "--upstream-openai", upstream], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  gateways.push(gateway);
  return new Promise((found, lost) => {
    let text = "";
    gateway.stdout.on("data", (piece) => {
      text += piece;
      const line = text.split("\n").find((line) => line.startsWith("{"));
      if (line) found(JSON.parse(line).address);
    });
    gateway.on("exit", () => lost(new Error("the gateway ended")));
  });
};
const address = await served("store.db", "compression.threshold=0.5");

// An agent that reads files and is told rules.
const messages = [{ role: "user", content: `Repair the importer. ${INJECTED}` }];
const work = (n) => {
  messages.push({ role: "assistant", content: [{ type: "tool_use", id: `c${n}`, name: "read_file", input: { path: `src/part_${n}.rs` } }] });
  const lines = Array.from({ length: 40 }, (_, line) => `pub fn part_${n}_${line}() -> u64 { ${line} } // kingfisher${n} ${INJECTED}`);
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: `c${n}`, content: lines.join("\n") }] });
  // Rules in the middle of the conversation, which a fold has to keep.
  const said = { 3: "Never push to main. Always run the tests first. Go on with the writers.", 8: "Now repair the reports." };
  if (said[n]) messages.push({ role: "assistant", content: "That part is repaired." }, { role: "user", content: said[n] });
};
const ask = async (where = address, key = KEY) => {
  const reply = await fetch(`${where}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key, "x-foldline-session": `importer ${INJECTED}`.trim() },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 99, messages }),
  });
  await reply.text();
  return { outcome: reply.headers.get("x-foldline-outcome"), session: reply.headers.get("x-foldline-session"), status: reply.status };
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const troubles = [];
const opened = async (options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`${page.url()}: ${error}`));
  page.on("dialog", (dialog) => troubles.push(`a dialog: ${dialog.message()}`));
  return page;
};
const axe = async (page, where) => {
  await page.evaluate(axeSource).catch(() => null);
  const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 2).map((n) => n.html) })));
  const grave = found.filter((violation) => ["serious", "critical"].includes(violation.impact));
  check(grave.length === 0, `axe on ${where}`, JSON.stringify(grave, null, 1));
};
const shot = async (page, name) => shots && page.screenshot({ path: join(shots, `${name}.png`), fullPage: !plainText });
const fits = async (page, where) => {
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  check(width[0] <= width[1], `${where} is not wider than the screen`, width.join(" > "));
};

try {
  // Nothing yet: the page helps.
  const page = await opened();
  await page.goto(`${address}/foldline/`);
  check((await page.textContent("main")).includes("No requests yet"), "an empty page says what to do");
  await page.waitForFunction(() => document.getElementById("live").textContent === "Live");
  await axe(page, "the empty page");
  await shot(page, "empty");

  // Live: a session appears while the page is open.
  work(0);
  const first = await ask();
  check(first.status === 200, "the gateway forwards", `${first.status}`);
  await page.waitForSelector("table a");
  check((await page.textContent("table a")).includes(INJECTED.slice(0, 10)), "a name with tags is shown as text");
  check((await page.evaluate(() => window.hacked)) === undefined, "nothing that is injected runs");

  // Live: a request that comes between the page and its stream of events is shown all the same.
  let late = 0;
  await page.route("**/foldline/events", async (route) => {
    late += 1;
    await new Promise((done) => setTimeout(done, 1_500));
    await route.continue();
  });
  const counted = (wanted) => page.waitForFunction((wanted) => [...document.querySelectorAll(".figures div")].some((d) => d.textContent.startsWith("Requests") && d.querySelector("dd").textContent.trim() === wanted), wanted);
  await page.reload();
  await counted("1");
  const second = await ask();
  check(second.status === 200, "the gateway forwards again", `${second.status}`);
  await counted("2");
  check(late > 0, "the stream opens late");
  await page.unroute("**/foldline/events");

  // Keyboard: skip link, then the session by the keyboard alone.
  await page.reload();
  await page.keyboard.press("Tab");
  check((await page.evaluate(() => document.activeElement.className)) === "skip", "the first stop is the skip link");
  await page.keyboard.press("Enter");
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.closest("table") !== null)) break;
  }
  await Promise.all([page.waitForURL("**/view/fs-*"), page.keyboard.press("Enter")]);

  // Live: the figures of one session change while it works, until it is folded.
  const requests = () => page.evaluate(() => [...document.querySelectorAll(".figures div")].find((d) => d.textContent.startsWith("Requests")).querySelector("dd").textContent.trim());
  check((await requests()) === "2", "two requests so far");
  let outcome = "";
  let count = 2;
  for (let n = 1; n < 80 && outcome !== "folded"; n += 1) {
    work(n);
    outcome = (await ask()).outcome;
    count += 1;
  }
  check(outcome === "folded", "the conversation is folded", outcome);
  for (let n = 80; n < 84; n += 1) {
    work(n);
    await ask();
    count += 1;
  }
  await page.waitForFunction((wanted) => [...document.querySelectorAll(".figures div")].some((d) => d.textContent.startsWith("Requests") && d.textContent.includes(wanted)), String(count));
  check((await page.textContent("main")).includes("Sign in"), "content is for the key that it belongs to");

  // Sign in with the agent's key.
  const session = page.url();
  await page.click("a.sign");
  await axe(page, "the login form");
  await page.fill("#key", KEY);
  await Promise.all([page.waitForURL("**/foldline/"), page.click("form.login button")]);
  const cookies = await page.context().cookies();
  check(cookies.some((cookie) => cookie.httpOnly && cookie.sameSite === "Strict" && !cookie.value.includes(KEY)), "the cookie is no key");
  await shot(page, "sessions-wide-light");
  await axe(page, "sessions");
  await page.goto(session);
  await shot(page, "session-wide-light");
  check((await page.textContent(".kept")).includes("Never push to main"), "rules are listed");
  check((await page.locator("svg polyline").count()) === 2 && (await page.locator("svg .fold").count()) >= 1, "the chart has marks");
  await shot(page, "session-wide-light");
  await axe(page, "a session");

  // A fold: handoff, originals, edits.
  await page.click(".folds a");
  const text = await page.textContent(".sides");
  check(text.includes("kingfisher0") || text.includes("part_0"), "the original is shown");
  check((await page.textContent("section[aria-labelledby=after]")).includes("Repair the importer"), "the handoff is shown");
  check((await page.evaluate(() => window.hacked)) === undefined, "nothing that is injected runs in a fold");
  check((await page.locator("table a[href*='/original/']").count()) > 0, "edits lead to originals");
  await shot(page, "fold-wide-light");
  await axe(page, "a fold");
  const fold = page.url();

  // Search and an original.
  await page.fill("#q", "kingfisher3");
  await Promise.all([page.waitForURL("**/find?**"), page.click("form.find button")]);
  await page.waitForSelector(".hits a");
  await axe(page, "what was found");
  await page.click(".hits a");
  check((await page.textContent("pre.whole")).length > 100, "an original is shown");
  await page.goto(`${address}/foldline/find?q=nowhereatall`);
  check((await page.textContent("main")).includes("No results in removed text"), "a search without results says so");

  // Download.
  await page.goto(fold);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download handoff")]);
  const saved = join(folder, "handoff.md");
  await download.saveAs(saved);
  check(readFileSync(saved, "utf8").includes("Repair the importer"), "the handoff is downloaded");

  // Dark and narrow.
  for (const [scheme, width] of [["dark", 1200], ["light", 400], ["dark", 400]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 800 });
    const size = width > 400 ? "wide" : "narrow";
    for (const [name, url] of [["sessions", `${address}/foldline/`], ["session", session], ["fold", fold], ["settings", `${address}/foldline/settings`], ["health", `${address}/foldline/health`]]) {
      await page.goto(url);
      await fits(page, `${name}, ${size} and ${scheme}`);
      await axe(page, `${name}, ${size} and ${scheme}`);
      await shot(page, `${name}-${size}-${scheme}`);
    }
  }
  await page.goto(`${address}/foldline/settings`);
  check((await page.textContent("main")).includes("compression.threshold"), "settings are listed");

  // Undo without JavaScript: reading and forms work.
  const plain = await opened({ javaScriptEnabled: false });
  await plain.goto(`${address}/foldline/login`);
  await plain.fill("#key", KEY);
  await plain.click("form.login button");
  await plain.goto(session);
  await plain.click("ol.folds button");
  check((await plain.textContent(".notice")).includes("undone"), "the page confirms the undo");
  work(90);
  const after = await ask();
  check(after.outcome === "unchanged", "the next request is forwarded unfolded", after.outcome);
  check(sent.at(-1).includes("part_1_1"), "with everything that was removed");

  // Client keys: for operators, with status, usage and budget of the day, and events.
  const keyed = await served("keys.db", "gateway.require_key=true");
  const keys = (...args) => execFileSync(foldline, ["keys", ...args, "--store", join(folder, "keys.db")], { env, encoding: "utf8" });
  const added = (...args) => JSON.parse(keys("add", ...args, "--json")).key;
  const boss = added("boss", "--scope", "operator");
  const build = added("build-farm", "--tokens-per-day", "500k", "--dollars-per-day", "5", "--expires", "30d");
  added("old-laptop");
  keys("revoke", "old-laptop");
  const signIn = async (page, key) => {
    await page.goto(`${keyed}/foldline/login`);
    await page.fill("#key", key);
    await Promise.all([page.waitForURL("**/foldline/"), page.click("form.login button")]);
  };
  const known = async (key) => {
    // A gateway reads the keys of its store once a second.
    for (let n = 0; n < 50; n += 1) {
      if ((await ask(keyed, key)).status === 200) return true;
      await new Promise((done) => setTimeout(done, 100));
    }
    return false;
  };
  check(await known(build), "a key of the store is accepted");
  check((await ask(keyed, KEY)).status === 401, "another key is not");
  const client = await opened();
  await signIn(client, build);
  check((await client.locator("nav a[href='/foldline/client-keys']").count()) === 0, "a client is not led to the keys");
  check((await fetch(`${keyed}/foldline/client-keys`, { headers: { "x-api-key": build } })).status === 403, "nor shown them");
  const operator = await opened();
  await signIn(operator, boss);
  await operator.click("nav a[href='/foldline/client-keys']");
  const row = async (name) => (await operator.locator("tr", { has: operator.locator("th", { hasText: name }) }).first().textContent()) ?? "";
  for (let n = 0; n < 50 && !(await row("build-farm")).includes(" of $5"); n += 1) await operator.reload();
  check((await row("build-farm")).includes("active") && /[1-9].* of 500/.test(await row("build-farm")), "usage and budget of the day", await row("build-farm"));
  check((await row("old-laptop")).includes("revoked"), "a revoked key is shown as such", await row("old-laptop"));
  const html = await operator.content();
  check(![boss, build].some((key) => html.includes(key)), "no key is on the page");
  check((await operator.textContent("main")).includes("Latest events"), "events are listed");
  for (const [scheme, width] of [["light", 1200], ["dark", 1200], ["light", 400], ["dark", 400]]) {
    await operator.emulateMedia({ colorScheme: scheme });
    await operator.setViewportSize({ width, height: 800 });
    const size = width > 400 ? "wide" : "narrow";
    await operator.goto(`${keyed}/foldline/client-keys`);
    await fits(operator, `keys, ${size} and ${scheme}`);
    await axe(operator, `keys, ${size} and ${scheme}`);
    await shot(operator, `keys-${size}-${scheme}`);
  }

  // A missing page, and forms of other sites.
  const missing = await fetch(`${address}/foldline/view/fs-0000000000000000`);
  check(missing.status === 404 && (await missing.text()).includes("Session not found"), "a missing page says why");
  const forged = await fetch(`${session}/undo`, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded", origin: "http://evil.example", "sec-fetch-site": "cross-site" } });
  check(forged.status === 403, "a form of another site is refused", `${forged.status}`);
  check(troubles.length === 0, "no errors in the console", troubles.join("\n"));
} catch (error) {
  failures += 1;
  console.error(`FAILED: ${error.stack ?? error}`);
} finally {
  await browser.close().catch(() => null);
  gateways.forEach((gateway) => gateway.kill("SIGTERM"));
  provider.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "the dashboard works in a browser" : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);
