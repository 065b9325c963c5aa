import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { buildImages, images, Installation, podman, requireTools, servers, services } from './_containers.ts';
import { FullVolume, volumeFor } from './_full-volume.ts';
import { Mailbox } from './_mailbox.ts';
import { manifestFaults } from './_manifest-faults.ts';
import { Outsider, type Acknowledged } from './_outside.ts';
import { playGatewayPod, rendered } from './_pod.ts';

const minutes = 60_000;
const operations = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));
const from = new Date().toISOString();
let mailbox: Mailbox;
let model: ScriptedModel;
let installation: Installation;
let gatewayUrl: string;
let port: number;
let ada: Outsider;
let scratch: string;
let acknowledged: Acknowledged[] = [];

beforeAll(async () => {
  requireTools();
  scratch = mkdtempSync(join(tmpdir(), 'countersign-evidence-'));
  mailbox = await Mailbox.open();
  const host = 'host.containers.internal';
  model = await startScriptedModel({ host: '0.0.0.0', names: [host] });
  port = await freePort();
  gatewayUrl = `http://localhost:${port}`;
  buildImages();
  installation = new Installation(port, volumeFor, {
    'gateway.env': { GOV_SMTP_URL: `smtp://${host}:${mailbox.port}` },
    'kernel.env': {
      GOV_UPSTREAM_URL: `http://${host}:${new URL(model.url).port}/v1`,
      GOV_MODEL_SPEND_LIMIT: '5000 EUR',
    },
  });
  await installation.up();
  ada = await Outsider.signIn(gatewayUrl, mailbox, 'ada@example.org');
}, 30 * minutes);

afterAll(async () => {
  installation?.remove();
  await model?.close();
  await mailbox?.close();
  rmSync(scratch, { recursive: true, force: true });
}, 2 * minutes);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}

const isOpen = (at: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(at, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

async function expectNothingLost(): Promise<void> {
  expect(acknowledged.length).toBeGreaterThan(10);
  for (const { key, receiptId } of acknowledged) {
    const again = await ada.evaluate('crm.read', key);
    expect(again?.receipt.payload.receipt_id).toBe(receiptId);
  }
}

const untilAnswered = () => until(async () => (await ada.evaluate('crm.read')) !== null);

/** Fills the free space inside pages by writes, until a write is refused. */
const untilRefused = () => until(async () => (await ada.evaluate('crm.read')) === null, 10);

async function until(isSo: () => Promise<boolean> | boolean, everyMs = 500): Promise<void> {
  const deadline = Date.now() + minutes;
  while (!(await isSo())) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (Date.now() > deadline)
      throw new Error(`The expected state was not reached in time. The last answer: ${ada.lastAnswer}`);
  }
}

type Health = { status: number; checks: Record<string, string> };

function askHealth(service: 'kernel' | 'gateway', of: 'live' | 'ready'): Health {
  const url = `http://127.0.0.1:${service === 'kernel' ? 8081 : 3101}/health/${of}`;
  const message = installation.script(
    service,
    `fetch('${url}').then(async (answer) => console.log(JSON.stringify({ checks: {}, ...(await answer.json()), status: answer.status })))`,
  );
  return JSON.parse(message) as Health;
}

const healthOf = (service: 'kernel' | 'gateway', of: 'live' | 'ready') => askHealth(service, of).status;
const checksOf = (service: 'kernel' | 'gateway') => askHealth(service, 'ready').checks;

// Later tests use the data of earlier ones. The pod at the end replaces two containers.
describeStory('an installation by compose', () => {
  it('decides the calls at its one port: allowed, denied, and held for a person', async () => {
    const verdicts = await Promise.all(['crm.read', 'crm.drop', 'mail.send'].map((tool) => ada.evaluate(tool)));
    expect(verdicts.map((decided) => decided?.verdict)).toEqual(['ALLOW', 'DENY', 'ESCALATE']);
    expect((await fetch(`${gatewayUrl}/console`)).status).toBe(200);
    const published = podman('ps', '--format', '{{.Ports}}')
      .split('\n')
      .filter((line) => line !== '');
    expect(published).toEqual([`127.0.0.1:${port}->3100/tcp`]);
    expect(await isOpen(port)).toBe(true);
  });

  it.each(services)('%s cannot write, is not root, and has no other service’s secrets', (service) => {
    const message = installation.script(
      service,
      `const { writeFileSync, readdirSync } = require('node:fs');
       const write = (file) => { try { writeFileSync(file, ''); return 'written'; } catch (error) { return error.code; } };
       console.log(JSON.stringify({ writes: ['/app/x', '/etc/x', '/run/secrets/x'].map(write), uid: process.getuid(), secrets: readdirSync('/run/secrets') }))`,
    );
    const { writes, uid, secrets } = JSON.parse(message) as { writes: string[]; uid: number; secrets: string[] };
    expect(writes.filter((outcome) => outcome === 'written')).toEqual([]);
    expect(uid).not.toBe(0);
    const prefix = service.replace('-', '_');
    const foreign = services.map((each) => each.replace('-', '_')).filter((each) => each !== prefix);
    expect(secrets.filter((name) => foreign.some((each) => name.startsWith(each)))).toEqual([]);
    const ofKernel = ['signing_key', 'policy_key', 'log_key', 'admin_api_key', 'tenant_salt_secret'];
    if (service !== 'kernel') expect(secrets.filter((name) => ofKernel.includes(name))).toEqual([]);
  });

  it('keeps no secret in a layer of an image, and adds at most 250 MB to Node', () => {
    const sizeOf = (image: string) => Number(podman('inspect', '--format', '{{.Size}}', image));
    const node = sizeOf('docker.io/library/node:24-bookworm-slim');
    for (const image of images) {
      expect([image, (sizeOf(`localhost/countersign/${image}`) - node) / 1e6 < 250]).toEqual([image, true]);
      const environment = podman('inspect', '--format', '{{json .Config.Env}}', `localhost/countersign/${image}`);
      expect(environment).not.toMatch(/KEY|PASSWORD|SECRET|TOKEN/);
    }
  });

  it.each([...services, ...servers])(
    'loses no acknowledged decision when %s is killed under load',
    async (container) => {
      const calling = ada.startCalling();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      podman('kill', installation.idOf(container));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      podman('start', installation.idOf(container));
      await installation.healthy(container);
      await untilAnswered();
      acknowledged = [...acknowledged, ...(await calling.stop())];
      await expectNothingLost();
    },
    5 * minutes,
  );

  it(
    'reports that it is not ready while the volume is full, stays alive, and recovers when there is space',
    async () => {
      const volume = new FullVolume(installation);
      try {
        volume.fill();
        await untilRefused();
        expect(checksOf('kernel')['database']).toBe('down');
        await until(() => checksOf('gateway')['kernel'] === 'down');
        for (const service of ['kernel', 'gateway'] as const) expect(healthOf(service, 'live')).toBe(200);
        volume.free();
        await until(() => healthOf('kernel', 'ready') === 200 && checksOf('gateway')['kernel'] === 'up');
        await untilAnswered();
      } finally {
        volume.remove();
      }
      await untilAnswered();
    },
    5 * minutes,
  );

  it(
    'finishes accepted requests before a gateway or a kernel stops',
    async () => {
      for (const service of ['gateway', 'kernel'] as const) {
        const calling = ada.startCalling();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        podman('stop', '--time', '60', installation.idOf(service));
        expect(podman('inspect', '--format', '{{.State.ExitCode}}', installation.idOf(service))).toBe('0');
        podman('start', installation.idOf(service));
        await installation.healthy(service);
        await untilAnswered();
        acknowledged = [...acknowledged, ...(await calling.stop())];
      }
      await expectNothingLost();
    },
    5 * minutes,
  );

  it(
    'gets new keys and passwords with the commands in docs/operations.md, and old signatures stay valid',
    async () => {
      const [renew = ''] = commandsUnder('## New keys');
      const before = [installation.secret('signing_key'), installation.secret('kernel_database_url')];
      const signer = (await ada.evaluate('crm.read'))?.receipt.signature.key_id;
      inShell(renew);
      await untilAnswered();
      const after = [installation.secret('signing_key'), installation.secret('kernel_database_url')];
      expect(after.filter((each) => before.includes(each))).toEqual([]);
      expect((await ada.evaluate('crm.read'))?.receipt.signature.key_id).not.toBe(signer);
      await expectNothingLost();
      expect((await ada.keepEvidence(scratch, from)).verify()).toMatchObject({ status: 0 });
    },
    5 * minutes,
  );

  it(
    'proves its actions to a verifier that has only the export',
    async () => {
      const evidence = await ada.keepEvidence(scratch, from);
      for (const container of [...services, ...servers]) podman('stop', '--time', '60', installation.idOf(container));
      const { status, output } = evidence.verify();
      expect([status, output]).toEqual([0, expect.stringContaining('VERIFIED')]);
      await installation.up();
    },
    5 * minutes,
  );

  it(
    'can be restored from a backup with the commands in docs/operations.md, and repeats no decision',
    async () => {
      const [save = '', restore = ''] = commandsUnder('## Save and restore');
      inShell(save);
      const late = await ada.evaluate('crm.read');
      inShell(restore);
      await untilAnswered();
      await expectNothingLost();
      const evidence = await ada.keepEvidence(scratch, from);
      expect(evidence.verify()).toMatchObject({ status: 0 });
      expect(readFileSync(`${scratch}/export.ndjson`, 'utf8')).not.toContain(late?.receipt.payload.receipt_id);
    },
    10 * minutes,
  );

  it(
    'has a rendered gateway pod that fails closed without its kernel container, stays alive, and recovers with it',
    async () => {
      podman('stop', '--time', '60', installation.idOf('gateway'));
      podman('stop', '--time', '60', installation.idOf('kernel'));
      const pod = playGatewayPod(installation, port);
      try {
        await untilAnswered();
        expect(pod.health('ready')).toBe(0);
        podman('kill', pod.kernel);
        expect(await ada.evaluate('crm.read')).toBeNull();
        expect([pod.health('ready'), pod.health('live')]).toEqual([1, 0]);
        podman('start', pod.kernel);
        await untilAnswered();
        expect(pod.health('ready')).toBe(0);
        await expectNothingLost();
      } finally {
        pod.remove();
      }
    },
    5 * minutes,
  );
});

describe('the rendered manifests', () => {
  it.each(['development', 'production'])('of %s are valid for Kubernetes', (overlay) => {
    const manifests = rendered(overlay);
    expect(manifests.map(({ kind }) => kind)).toContain('Deployment');
    expect(manifests.flatMap((manifest) => manifestFaults(manifest))).toEqual([]);
  });
});

/** The command blocks in one section of the page. */
function commandsUnder(heading: string): string[] {
  const [, segment = ''] = readFileSync(operations, 'utf8').split(heading);
  const [own = ''] = segment.split('\n## ');
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands = '']) => commands);
}

/** Runs the commands of the page. The installed `compose` does not wait in `up`, so a shim replaces it. */
function inShell(commands: string): void {
  const script = join(installation.folder, 'commands');
  const inFolder = commands.replaceAll('infra/compose', '.');
  writeFileSync(script, `set -eu\n${readFileSync(new URL('compose-shim.sh', import.meta.url), 'utf8')}\n${inFolder}`);
  installation.run('sh', script);
}
