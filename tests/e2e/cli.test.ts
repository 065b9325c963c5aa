import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCountersign } from '@countersign/cli';
import { untilAnswered } from '@countersign/testkit/until';
import { root } from '../architecture/repository.ts';
import { confirmProgram, leaveLogin } from './_program-login.ts';
import { addressBook, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { Tab } from './_tab.ts';

const address = addressBook();

const command = join(root, 'packages/cli/dist/main.js');
let system: SharedSystem;
let ada: SignedIn;
let tab: Tab;
let key: string;
let dir: string;

type Members = Record<string, never>;
type Ended = { status: number | null; out: string; printed: string };

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
  system = await sharedSystem();
  ada = await signIn(system, address('ada'));
  tab = new Tab(system.gatewayUrl);
  await tab.signIn(address('ada'));
  const scopes = ['read', 'agent'];
  ({ key } = (await ada.client.createApiKey({ body: { name: 'crawler', scopes } as never })).body);
  for (const session of ['one', 'two', 'three']) await call(session, 'E3');
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const byKey = () => ({ COUNTERSIGN_URL: system.gatewayUrl, COUNTERSIGN_TOKEN: key });
const inDir = (env: Record<string, string>) => ({ COUNTERSIGN_CONFIG_DIR: dir, ...env });

/** Runs the command within this process. `printed` returns what the command wrote for people so far. */
function start(argv: string[], env: Record<string, string>): { printed(): string; ended: Promise<Ended> } {
  let [out, output] = ['', ''];
  const stdin = (async function* () {
    // Standard input is empty.
  })();
  const running = runCountersign(argv, {
    write: (text) => void (out += text),
    tell: (text) => void (output += text),
    env: inDir(env),
    stdin,
    signal: new AbortController().signal,
  });
  return { printed: () => output, ended: running.then((status) => ({ status, out, printed: output })) };
}

const run = (argv: string[], env: Record<string, string> = byKey()) => start(argv, env).ended;

/** Runs the command in its own process, as a shell does. */
function spawned(argv: string[], env: Record<string, string>): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [command, ...argv], {
    env: { PATH: process.env['PATH'], ...inDir(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = once(child, 'close').then(([status]) => ({
    status: status as number | null, // Node's type
    out,
    printed: errors,
  }));
  return { child, ended };
}

const program = () => ({ gatewayUrl: system.gatewayUrl, tab, workspaceId: ada.workspaceId });

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Members);

async function call(session: string, effect = 'E1'): Promise<Members> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = { action: 'tool.call', tool: 'mail.send', effect_level: effect, session_id: session };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), sent)).json()) as Members;
}

describe('countersign receipts', () => {
  it('prints ids in the order of the server, and a whole receipt', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const listed = (await (
      await fetch(new URL('/api/v1/receipts?limit=3', system.gatewayUrl), { headers })
    ).json()) as {
      data: { payload: { receipt_id: string } }[];
    };
    const ids = listed.data.map(({ payload }) => payload.receipt_id);
    const { status, out, printed } = await spawned(['receipts', 'ls', '--limit', '3', '-o', 'jsonl'], byKey()).ended;
    expect([status, linesOf(out)]).toEqual([0, listed.data]);
    expect(printed === '' || printed.startsWith('More: --cursor ')).toBe(true);
    const { out: table } = await run(['receipts', 'ls', '--limit', '3']);
    expect(
      table
        .split('\n')
        .slice(1, 4)
        .map((line) => line.split(' ')[0]),
    ).toEqual(ids); // below its heads
    const one = await run(['receipts', 'get', ids[0] ?? '', '-o', 'json']);
    expect(JSON.parse(one.out)).toEqual(listed.data[0]);
    expect(await run(['receipts', 'get', 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV'])).toMatchObject({
      ...{ status: 1, out: '', printed: expect.stringContaining('(NOT_FOUND)') },
    });
    expect((await run(['receipts', 'ls', '--verdict', 'MAYBE'])).status).toBe(1);
  });

  it('prints receipts as they are sealed, until the person interrupts', async () => {
    const { child, ended } = spawned(['receipts', 'tail', '--session', 'followed'], byKey());
    let seen = '';
    child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    await untilAnswered(async () => {
      await call('followed', 'E3');
      return seen !== '';
    });
    child.kill('SIGINT');
    const { status, out } = await ended;
    expect([status, linesOf(out)[0]]).toEqual([
      0,
      expect.objectContaining({ payload: expect.objectContaining({ session_id: 'followed' }) }),
    ]);
  });

  it('verifies exported receipts without the server', async () => {
    const headers = { authorization: `Bearer ${key}` };
    const exported = await fetch(new URL('/api/v1/receipts/export?session_id=one', system.gatewayUrl), { headers });
    const keys = await fetch(new URL('/api/v1/trust/keys', system.kernelUrl));
    const [file, trust] = [join(dir, 'one.jsonl'), join(dir, 'keys.json')];
    writeFileSync(file, await exported.text());
    writeFileSync(trust, await keys.text());
    expect(await run(['verify', file, '--keys', trust], {})).toMatchObject({
      ...{ status: 0, out: expect.stringContaining('VERIFIED') },
    });
    writeFileSync(file, readFileSync(file, 'utf8').replace('mail.send', 'mail.sent'));
    expect((await spawned(['verify', file, '--keys', trust, '--json'], {}).ended).status).toBe(1);
  });
});

describe('countersign doctor', () => {
  it('finds no fault in a sound installation, and names each fault with its remedy', async () => {
    const sound = await run(['doctor', '-o', 'json']);
    expect([sound.status, (JSON.parse(sound.out) as Members[]).map(({ check, ok }) => [check, ok])]).toEqual([
      0,
      ['credential', 'gateway', 'clock', 'kernel'].map((check) => [check, true]),
    ]);
    const nobody = await run(['doctor'], { COUNTERSIGN_CONFIG_DIR: join(dir, 'nobody') });
    expect(nobody).toMatchObject({ status: 1, out: expect.stringContaining('countersign login') });
    const away = await run(['doctor'], { ...byKey(), COUNTERSIGN_URL: 'http://127.0.0.1:9' });
    expect(away).toMatchObject({ status: 1, out: expect.stringMatching(/PROBLEM +gateway/) });
    const wrong = await run(['doctor'], { ...byKey(), COUNTERSIGN_TOKEN: `${key}x` });
    expect(wrong).toMatchObject({ status: 1, out: expect.stringMatching(/PROBLEM +kernel .*CREDENTIALS_INVALID/) });
  });
});

/** A policy that denies everything to agents. Its owners may still change it. */
const strict = (name: string) =>
  JSON.stringify({
    format: 'countersign/policy.v1',
    name,
    version: '1',
    rules: [{ id: 'owners', effect: 'allow', match: { action: ['policy.change'] } }],
  });

describe('a credential that is rejected', () => {
  it('is named, with the command that helps', async () => {
    const refused = await run(['receipts', 'ls'], { ...byKey(), COUNTERSIGN_TOKEN: 'bad' });
    expect(refused).toMatchObject({ status: 1, printed: expect.stringContaining('COUNTERSIGN_TOKEN is refused') });
    const code = await run(['receipts', 'ls', '--reason', 'NO_SUCH_CODE']);
    expect(code.printed).toContain('reason_code: Invalid option: details.issues lists the');
    // The output contains the message, the code and the next step, but no list of all codes.
    expect(code.printed.length).toBeLessThan(250);
  });
});

describe('countersign login', () => {
  it('is recommended when the login is for another address or has too few rights', async () => {
    await leaveLogin({ ...program(), role: 'member', dir });
    const elsewhere = await run(['receipts', 'ls'], { COUNTERSIGN_URL: 'http://127.0.0.1:1' });
    expect(elsewhere.printed).toContain('countersign login --url http://127.0.0.1:1');
    expect((await run(['agent-keys', 'ls'], {})).printed).toContain('countersign login --role owner');
  });

  it('admits the terminal with a code that a person confirms, and then shows what waits and where to decide', async () => {
    const { printed, ended } = start(['login', '--url', system.gatewayUrl, '--role', 'owner'], {});
    await confirmProgram(
      program(),
      await untilAnswered(async () => /confirm the code ([A-Z]{4}-[A-Z]{4})/.exec(printed())?.[1]),
    );
    expect(await ended).toMatchObject({ status: 0, out: '', printed: expect.stringContaining('as owner') });

    await call('asked', 'E3');
    const listed = await run(['approvals', 'ls', '--session', 'asked', '-o', 'jsonl'], {});
    const [request = {}] = linesOf(listed.out);
    expect(request).toMatchObject({ state: 'pending', tool: 'mail.send', session_id: 'asked' });
    const id = String(request['approval_id']);
    const shown = await run(['approvals', 'show', id, '-o', 'json'], {});
    expect(JSON.parse(shown.out)).toEqual(request);
    expect(shown.printed).toContain(`/console/inbox/${id}`);
    const { access_token: token } = JSON.parse(readFileSync(join(dir, 'login.json'), 'utf8')) as Members;
    const place = `/api/v1/workspaces/${ada.workspaceId}/approvals/${id}/resolve`;
    const headers = { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' };
    const vote = await fetch(new URL(place, system.gatewayUrl), {
      ...{ method: 'POST', body: JSON.stringify({ decision: 'approve' }) },
      headers: { ...headers, 'if-match': `"${String(request['ceremony_hash'])}"` },
    });
    expect(vote.status).toBe(403);

    const explained = await run(['policy', 'explain', String(request['receipt_id'])], {});
    expect(explained.out).toMatch(/^ESCALATE APPROVAL_REQUIRED: .*\n.* requested mail\.send at .*\nMatched rules: /);
    expect(explained.out).toMatch(/^rules +escalate +APPROVAL_REQUIRED$/m);
    expect(explained.out).toMatch(/^ {2}\{"id":"[^"]+","effect":"escalate".*\}$/m);
    expect(explained.out).toMatch(/^Next step: .+$/m);
    expect(await run(['policy', 'explain', 'nonsense'], {})).toMatchObject({
      ...{ status: 1, out: '', printed: expect.stringContaining('nonsense is not the ID of a receipt') },
    });

    const bundle = join(dir, 'strict.yaml');
    writeFileSync(bundle, strict('strict'));
    const tried = await run(['policy', 'whatif', bundle, '-o', 'json'], {});
    expect([tried.status, tried.printed]).toEqual([0, expect.stringContaining('0 become more permissive')]);
    const report = JSON.parse(tried.out) as { matrix: Record<string, Record<string, number>>; decisions: number };
    expect(report.decisions).toBeGreaterThan(3);
    expect(report.matrix['ESCALATE']).toEqual({ ALLOW: 0, DENY: expect.any(Number), ESCALATE: 0, UNREPLAYABLE: 0 });
    expect((await run(['policy', 'whatif'], {})).out).toMatch(/^WAS +ALLOW +DENY +ESCALATE +UNREPLAYABLE\n/);
    writeFileSync(bundle, strict('another'));
    expect(await run(['policy', 'whatif', bundle], {})).toMatchObject({
      status: 1,
      out: '',
      printed: expect.stringContaining('--replace-draft'),
    });
    expect((await run(['policy', 'whatif', bundle, '--replace-draft'], {})).status).toBe(0);

    expect((await run(['logout'], {})).status).toBe(0);
    expect(await run(['approvals', 'ls'], {})).toMatchObject({
      status: 2,
      printed: expect.stringContaining('login'),
    });
  });
});
