import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prefixOf, services } from '@countersign/services';
import { parse } from 'yaml';
import { environmentIn, ofImage, readEnvironment, serviceOfImage, withSecretsIn } from './_environment.ts';

type ComposeService = {
  image: string;
  env_file?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  ports?: string[];
  networks?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  command?: string[];
  depends_on?: Record<string, object>;
};
type ComposeFile = {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
  secrets: Record<string, unknown>;
};

const shipped = fileURLToPath(new URL('../../infra/compose', import.meta.url));
const compose = parse(readFileSync(join(shipped, 'compose.yaml'), 'utf8'), { merge: true }) as ComposeFile; // our own file
const ours = Object.entries(compose.services).filter(([, { image }]) => image.includes('COUNTERSIGN_IMAGES'));
const mail = { GOV_SMTP_URL: 'smtp://mail.example.net:587' };
let folder: string;

beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'compose-')), 'compose');
  cpSync(shipped, folder, { recursive: true });
  init();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const renew = (...names: string[]) =>
  execFileSync('sh', [join(folder, 'renew'), ...names], { encoding: 'utf8', stdio: 'pipe' });
/**
 * The openssl calls that make a secret, a key, its public key, a salt, a digest and a hash. The number selects the nth
 * such call.
 */
const failing = [
  ...[
    ['rand', 1],
    ['rand', 12],
    ['genpkey', 1],
    ['genpkey', 3],
    ['pkey', 1],
    ['pkey', 3],
  ],
  ...[
    ['base64', 2],
    ['rand', 16],
    ['dgst', 1],
    ['dgst', 3],
    ['base64', 6],
  ],
] as [string, number][];
const openssl = execFileSync('sh', ['-c', 'command -v openssl'], { encoding: 'utf8' }).trim();
const logOrigin = 'receipts.example.net/log';
const init = () =>
  execFileSync('sh', [join(folder, 'init')], {
    encoding: 'utf8',
    env: { ...process.env, GOV_LOG_ORIGIN: logOrigin },
  });
const secretsFolder = () => join(folder, 'secrets');

function environmentOf(service: ComposeService): Record<string, string> {
  const files = (service.env_file ?? []).map((file) => environmentIn(readFileSync(join(folder, file), 'utf8')));
  const values = Object.assign({}, ofImage, ...files, service.environment) as Record<string, string>;
  return withSecretsIn(secretsFolder(), '/run/secrets', values);
}

const read = (name: string, more: Record<string, string> = {}) => {
  const service = compose.services[name];
  const deployed = serviceOfImage(service?.image ?? '');
  if (service === undefined || deployed === null) throw new Error(`compose.yaml has no ${name}`);
  return readEnvironment(deployed, { ...environmentOf(service), ...more });
};

describe('the configuration that compose.yaml and init create', () => {
  it('is accepted in production by the kernel and the control plane, and by the gateway once a mail server is set', () => {
    expect(read('kernel')).toMatchObject({ policyFile: '/app/policy/starter.yaml', logOrigin });
    expect(read('control-plane')).toMatchObject({ gatewayUrl: 'http://gateway:3100' });
    expect(read('gateway', mail)).toMatchObject({ failClosed: true });
    expect(() => read('gateway')).toThrow('GOV_SMTP_URL');
  });

  it.each(['signing_key', 'service_api_key', 'kernel_database_url'])(
    'stops the start and names the variable when the file %s is missing, a placeholder or readable by others',
    (secret) => {
      const file = join(secretsFolder(), secret);
      const text = readFileSync(file, 'utf8');
      const problemsWith = (change: () => void) => {
        change();
        try {
          read('kernel');
          return '';
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        } finally {
          rmSync(file, { force: true });
          writeFileSync(file, text, { mode: 0o600 });
        }
      };
      const named = new RegExp(`${secret.toUpperCase().replace('KERNEL_', '')}(_FILE)? `);
      expect(problemsWith(() => writeFileSync(file, text, { mode: 0o600 }))).toBe('');
      expect(problemsWith(() => rmSync(file))).toMatch(named);
      expect(problemsWith(() => writeFileSync(file, 'changeme'))).toMatch(named);
      expect(problemsWith(() => execFileSync('chmod', ['0644', file]))).toMatch(named);
    },
  );

  it('has secrets that are made once: a second run of init changes no byte, and only the owner can read them', () => {
    const snapshot = () =>
      readdirSync(secretsFolder()).map((name) => [name, readFileSync(join(secretsFolder(), name), 'utf8')]);
    const before = snapshot();
    expect(init()).toContain('0 files made');
    expect(snapshot()).toEqual(before);
    const modes = readdirSync(secretsFolder()).map((name) => statSync(join(secretsFolder(), name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(new Set(before.map(([, text]) => text)).size).toBe(before.length);
  });
});

describe('the name of the log', () => {
  const made = (origin: string | undefined, requested?: string) => {
    const copy = join(mkdtempSync(join(tmpdir(), 'compose-')), 'compose');
    try {
      cpSync(shipped, copy, { recursive: true, filter: (file) => !/secrets$|\.env$|definitions/.test(file) });
      const { GOV_LOG_ORIGIN: _, ...others } = process.env;
      const env = origin === undefined ? others : { ...others, GOV_LOG_ORIGIN: origin };
      const run = (input: string | undefined) =>
        input === undefined
          ? spawnSync('sh', [join(copy, 'init')], { env, encoding: 'utf8' })
          : spawnSync('script', ['-qec', `sh ${join(copy, 'init')}`, '/dev/null'], { env, encoding: 'utf8', input });
      const first = run(requested);
      const settings = first.status === 0 ? readFileSync(join(copy, 'kernel.env'), 'utf8') : '';
      const again = first.status === 0 ? run(undefined) : first;
      const kept = first.status === 0 ? readFileSync(join(copy, 'kernel.env'), 'utf8') : '';
      return { ...first, named: environmentIn(settings)['GOV_LOG_ORIGIN'], kept: kept === settings, again };
    } finally {
      rmSync(join(copy, '..'), { recursive: true, force: true });
    }
  };

  it('is requested once at a terminal, and kept', () => {
    const { named, stdout, kept, again } = made(undefined, 'asked.example.net/log\n');
    expect(stdout).toContain('Name of the log of receipts');
    expect([named, kept]).toEqual(['asked.example.net/log', true]);
    expect(again.stderr).not.toContain('GOV_LOG_ORIGIN');
  });

  it('is left empty without a terminal, with a message, and production then does not start', () => {
    const { status, named, stderr } = made(undefined);
    expect([status, named]).toEqual([0, '']);
    expect(stderr).toContain('GOV_LOG_ORIGIN is missing: choose the name of the log once');
    expect(() => read('kernel', { GOV_LOG_ORIGIN: '' })).toThrow('GOV_LOG_ORIGIN is missing: choose the name');
  });

  it.each(['two words', 'a|b', '$(id)', 'a&b'])(
    'cannot contain characters that are special for sed or a shell: %s',
    (origin) => {
      const { status, stderr } = made(origin);
      expect([status, stderr.includes('GOV_LOG_ORIGIN can contain only')]).toEqual([2, true]);
    },
  );
});

describe.each(services)('the service $name of the register', (row) => {
  const { name, schema, container, ports } = row;
  const dockerfile = readFileSync(join(shipped, '../docker/Dockerfile'), 'utf8');

  it('runs in compose after its migrations, with its own PostgreSQL role and broker account', () => {
    expect(compose.services[container]).toMatchObject({
      image: `\${COUNTERSIGN_IMAGES}/${name}`,
      environment: { DATABASE_URL_FILE: `/run/secrets/${schema}_database_url` },
      depends_on: { [`migrate-${container}`]: expect.anything() },
    });
    expect(compose.services[`migrate-${container}`]).toMatchObject({
      command: ['node', 'dist/main-migrate.js', name],
      environment: { DATABASE_URL_FILE: `/run/secrets/${schema}_owner_url` },
    });
    expect(compose.services['provision']?.environment).toMatchObject({
      [`${prefixOf(row)}_DATABASE_PASSWORD_FILE`]: `/run/secrets/${schema}_database_password`,
      [`${prefixOf(row)}_OWNER_PASSWORD_FILE`]: `/run/secrets/${schema}_owner_password`,
    });
    const broker = JSON.parse(readFileSync(join(folder, 'rabbitmq_definitions.json'), 'utf8')) as { users: object[] }; // made by init
    expect(broker.users).toContainEqual(expect.objectContaining({ name: schema }));
  });

  it('has an image with its ports and its probe, and its migrations are in the image of jobs', () => {
    const [, target = ''] = dockerfile.split(`FROM base AS ${name}\n`);
    const image = target.split('\nFROM ')[0] ?? '';
    expect(image).toContain(`COPY --from=build /out/${name} /app`);
    expect(image).toContain(`EXPOSE ${ports.main} ${ports.health}`);
    expect(image).toContain(`READY_URL=http://127.0.0.1:${ports.health}/health/ready`);
    expect(dockerfile).toContain(`COPY --from=build /src/services/${name}/prisma /app/services/${name}/prisma`);
    expect(/for unit in (.*); do/.exec(dockerfile)?.[1]?.split(' ')).toContain(name);
  });
});

describe('an installation by compose', () => {
  it('renews secrets by name: lists keep the old public keys, dependent values follow, and init finishes an interrupted renewal', () => {
    const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
    const files = ['gateway-keys.env', 'control-plane-keys.env', 'kernel-keys.env'];
    const url = textOf('secrets/kernel_database_url');
    const [before, accounts] = [files.map(textOf), textOf('rabbitmq_definitions.json')];
    writeFileSync(
      join(secretsFolder(), 'kernel_database_url'),
      url.replace('@postgres:5432', '@database.example:6432'),
    );
    renew('signing_key', 'assertion_key', 'kernel_database_password', 'kernel_amqp_password');
    const password = textOf('secrets/kernel_database_password').trim();
    expect(textOf('secrets/kernel_database_url')).toContain(`:${password}@database.example:6432/`);
    expect(textOf('secrets/kernel_database_url')).not.toBe(url);
    expect(textOf('rabbitmq_definitions.json')).not.toBe(accounts);
    for (const [index, file] of files.entries())
      for (const [name, keys] of Object.entries(environmentIn(before[index] ?? '')))
        expect(environmentIn(textOf(file))[name]).toMatch(new RegExp(`^${keys},[A-Za-z0-9_-]{43}$`));
    for (const name of ['kernel', 'control-plane']) expect(() => read(name)).not.toThrow();
    expect(() => read('gateway', mail)).not.toThrow();
    rmSync(join(secretsFolder(), 'signing_key'));
    init();
    expect(environmentIn(textOf('gateway-keys.env'))['GOV_TRUSTED_PUBLIC_KEYS']?.split(',').length).toBe(3);
    expect(() => renew('tenant_salt_secret')).toThrow('earlier hashes of arguments would no longer match');
    expect(() => renew('kernel_database_url')).toThrow('Renew the password that it contains');
    expect(() => renew('signing_key', 'nothing')).toThrow('There is no secrets/nothing');
    expect(environmentIn(textOf('gateway-keys.env'))['GOV_TRUSTED_PUBLIC_KEYS']?.split(',').length).toBe(3);
  });

  it('has complete files after a repeated init, whichever call of openssl failed in the first one', () => {
    const copy = join(mkdtempSync(join(tmpdir(), 'com pose-')), 'com pose');
    try {
      const failsAt = (command: string, nth: number) =>
        `#!/bin/sh\n[ "$1" != ${command} ] || echo x >>"${copy}.calls"\n` +
        `[ "$1" != ${command} ] || [ "$(wc -l <"${copy}.calls")" -ne ${nth} ] || exit 1\nexec "${openssl}" "$@"\n`;
      for (const [command, nth] of failing) {
        rmSync(copy, { recursive: true, force: true });
        rmSync(`${copy}.calls`, { force: true });
        cpSync(shipped, copy, { recursive: true, filter: (file) => !/secrets$|\.env$|definitions/.test(file) });
        mkdirSync(`${copy}/bin`);
        writeFileSync(`${copy}/bin/openssl`, failsAt(command, nth), { mode: 0o700 });
        const env = { ...process.env, PATH: `${copy}/bin:${process.env['PATH'] ?? ''}` };
        const run = () => spawnSync('sh', [join(copy, 'init')], { env, encoding: 'utf8' });
        expect([command, nth, run().status]).toEqual([command, nth, 2]);
        expect([command, nth, run().status]).toEqual([command, nth, 0]);
        const made = ['secrets', '.'].flatMap((at) => readdirSync(join(copy, at)).map((file) => join(copy, at, file)));
        const sizes = made
          .filter((file) => statSync(file).isFile())
          .map((file) => readFileSync(file, 'utf8').trim().length);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
        expect(
          readFileSync(join(copy, 'rabbitmq_definitions.json'), 'utf8').match(/"[A-Za-z0-9+/]{48}"/g),
        ).toHaveLength(services.length);
      }
    } finally {
      rmSync(join(copy, '..'), { recursive: true, force: true });
    }
  });

  it('gives each service exactly the secrets that the service reads, each from a file that init makes', () => {
    const mounted = Object.values(compose.services).flatMap(({ secrets = [] }) => secrets);
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(compose.secrets).sort());
    expect(mounted.filter((name) => !readdirSync(secretsFolder()).includes(name))).toEqual([]);
    for (const [name, { secrets = [], environment = {} }] of ours) {
      const files = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
      expect([name, files.map((file) => file.slice('/run/secrets/'.length)).sort()]).toEqual([
        name,
        [...secrets].sort(),
      ]);
    }
  });

  it('opens one port, keeps database and broker internal, and lets no image of ours write or run as root', () => {
    const opened = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
    expect(opened.map(([name, { ports }]) => [name, ports])).toEqual([
      ['gateway', ['${GATEWAY_BIND:-127.0.0.1}:${GATEWAY_PORT}:3100']],
    ]);
    expect(compose.networks['inside']).toEqual({ internal: true });
    for (const name of ['postgres', 'rabbitmq']) expect(compose.services[name]?.networks).toEqual(['inside']);
    for (const [name, { user, read_only: isReadOnly, cap_drop: dropped }] of ours)
      expect([name, user, isReadOnly, dropped]).toEqual([name, '${COUNTERSIGN_USER}', true, ['ALL']]);
  });
});
