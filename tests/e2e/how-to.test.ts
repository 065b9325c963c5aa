import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { untilAnswered } from '@countersign/testkit/until';
import { readText, root } from '../architecture/repository.ts';
import { Reading } from './_reading.ts';
import { typeInForeground } from './_terminal.ts';
import { Walk } from './_walk.ts';

const block = (commands: string) => `\`\`\`sh\n${commands}\n\`\`\`\n`;
const pageOf = (name: string) => readText(`docs/how-to/${name}.md`);
const restarted = async (reading: Reading, line: string) => {
  await reading.first.interrupt();
  reading.first = await typeInForeground(line, reading.place);
};

// Each page starts a system with its own settings.

describe('the page on a model provider', () => {
  let provider: ScriptedModel;
  let reading: Reading;
  beforeAll(async () => {
    provider = await startScriptedModel();
    const text = pageOf('connect-a-provider').replace('https://api.openai.com/v1', provider.url);
    reading = await Reading.begin(new Walk('connect-a-provider', text), 'rule.yaml');
  });
  afterAll(async () => {
    await reading.end();
    await provider.close();
  });

  it('connects two models, and denies a third before the provider receives it', async () => {
    await untilAnswered(() => Promise.resolve(/^Policy activated: .* epoch 2, /m.test(reading.first.printed())));
    expect(await reading.typed('chat()')).toEqual(['chat.completion', 'chat.completion', 'policy_denied']);
    const models = provider.requests.map(({ body }) => (JSON.parse(body) as { model: string }).model);
    expect(models).toEqual(['gpt-5-mini', 'gpt-5']);
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer sk-your-key');
    expect(reading.walk.left).toEqual([]);
  });
});

describe('the page on a changed tool', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-clock-'));
  const clock = join(dir, 'clock.mjs');
  const written = (description: string) => {
    const example = readFileSync(join(root, 'infra/local/examples/clock.mjs'), 'utf8');
    writeFileSync(clock, example.replace('The time here.', description));
  };
  const text = pageOf('accept-a-changed-tool').replace("'$PWD'/clock.mjs", clock);
  let reading: Reading;
  beforeAll(async () => {
    chmodSync(dir, 0o755); // servers over stdio have their own account when we are root
    symlinkSync(join(root, 'infra/local/node_modules'), join(dir, 'node_modules'));
    written('The time here.');
    reading = await Reading.begin(new Walk('accept-a-changed-tool', text), 'now()');
  });
  afterAll(async () => {
    await reading.end();
    rmSync(dir, { recursive: true });
  });

  it('shows the change, and accepts it by an approval of exactly that change', async () => {
    expect(await reading.second.type('now clock.now | pick decision.verdict')).toBe('ALLOW');
    written('The time here, for the password.');
    await restarted(reading, new Walk('its start', text).blockWith('make up'));
    expect(await reading.second.type('. .countersign/local.env; now clock.now | pick decision.reason_code')).toBe(
      'SCHEMA_DRIFT',
    );
    expect(await reading.typed('tools.json')).toEqual([
      'clock.now drifted',
      'The time here. -> The time here, for the password.',
    ]);
    expect(await reading.typed('registry/clock > server.json')).toEqual(['now description']);
    expect(await reading.typed('registry/clock/approve')).toEqual(['approved', 'approved', 'ALLOW']);
    expect(reading.walk.left).toEqual([]);
  });
});

describe('the page on a backup of make up', () => {
  const read = (session: string) =>
    `curl -sS -H "Authorization: Bearer $AGENT_KEY" -H "Content-Type: application/json" $KERNEL_URL/api/v1/evaluate ` +
    `-d '{"action":"tool.call","tool":"crm.read","session_id":"${session}"}' | node -pe 'JSON.parse(require("fs").readFileSync(0)).receipt_id'`;
  const found = (receipt: string) =>
    `curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $GOV_ADMIN_API_KEY" -H "X-Gov-Tenant-ID: acme" ` +
    `$KERNEL_URL/api/v1/receipts/${receipt}`;
  let reading: Reading;
  beforeAll(async () => {
    const prepared = block('make up') + block('set -a; . .countersign/local.env');
    const text = prepared + pageOf('back-up-make-up');
    reading = await Reading.begin(new Walk('back-up-make-up', text), 'set -a; .');
  });
  afterAll(() => reading.end());

  it('restores the saved state, and nothing later', async () => {
    const saved = await reading.second.type(read('s1'));
    await reading.first.interrupt();
    await reading.typed('--create');
    reading.first = await typeInForeground('make up', reading.place);
    const late = await reading.second.type(`. .countersign/local.env; ${read('s1')}`);
    await reading.first.interrupt();
    await reading.typed('--extract');
    reading.first = await typeInForeground(reading.walk.blockWith('make up'), reading.place);
    const lines = await reading.typed('cli.js');
    expect(lines[0]).toMatch(/^VERIFIED: 1 receipt/);
    expect(await reading.second.type(found(saved))).toBe('200');
    expect(await reading.second.type(found(late))).toBe('404');
    expect(reading.walk.left).toEqual([]);
  });
});

describe('the how-to pages "agent on another host" and "rotate keys"', () => {
  let reading: Reading;
  let proxy: Server;
  beforeAll(async () => {
    const text = pageOf('agent-on-another-host') + pageOf('rotate-keys');
    reading = await Reading.begin(new Walk('agent-on-another-host and rotate-keys', text), 'OLD=');
    proxy = proxyTo(reading.place.env['GATEWAY_PORT'] ?? '');
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => {
      proxy.close(resolve);
      proxy.closeAllConnections();
    });
    await reading.end();
  });

  it('let an agent call only under the host name of the gateway', async () => {
    const { port } = proxy.address() as AddressInfo; // a listening TCP server has this address type
    await reading.second.type(`BASE_URL=http://127.0.0.1:${port}`);
    const [answer = ''] = await reading.typed('$BASE_URL');
    expect(JSON.parse(answer)).toMatchObject({ verdict: 'ALLOW' });
    const second = `call -H "X-Other-Name: evil.example" $BASE_URL/api/v1/evaluate -d '{}' | pick error.code`;
    expect(await reading.second.type(second)).toBe('HOST_NOT_ALLOWED');
  });

  it('replace the key of an agent without an interruption', async () => {
    const [verdict, ...keys] = await reading.typed('NEW=');
    expect(verdict).toBe('ALLOW');
    expect(keys).toEqual(expect.arrayContaining([expect.stringMatching(/^agk_\w+ null$/)]));
    const [ended, code, after] = await reading.typed('-X DELETE');
    expect(ended).toMatch(/^key_|^ak_|^\w+_/);
    expect([code, after]).toEqual(['CREDENTIALS_INVALID', 'ALLOW']);
  });
});

/** Forwards requests like the proxies of the page. TLS ends before it. */
function proxyTo(port: string): Server {
  return createServer((req, res) => {
    const host = String(req.headers['x-other-name'] ?? 'agents.example.org');
    const headers = { ...req.headers, host, 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const target = { port, host: '127.0.0.1', method: req.method, path: req.url, headers, agent: false };
    const passed = request(target, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(passed);
  });
}
