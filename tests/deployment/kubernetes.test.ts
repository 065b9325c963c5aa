import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prefixOf, services as register } from '@countersign/services';
import { parse, parseAllDocuments } from 'yaml';
import { environmentIn, ofImage, readEnvironment, serviceOfImage, withSecretsIn } from './_environment.ts';

type Variable = { name: string; value: string };
type Container = {
  name: string;
  image: string;
  args?: string[];
  ports?: { containerPort: number }[];
  env?: Variable[];
  envFrom?: { configMapRef: { name: string } }[];
  securityContext?: Record<string, unknown>;
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
  livenessProbe?: { httpGet: { path: string } };
  readinessProbe?: { httpGet: { path: string } };
};
type PodSpec = {
  containers: Container[];
  securityContext?: Record<string, unknown>;
  automountServiceAccountToken?: boolean;
  volumes?: { name: string; secret?: { secretName: string; defaultMode: number } }[];
};
type Manifest = { kind: string; metadata: { name: string }; spec: { template?: { spec: PodSpec } } };
type Ports = { port: string | number }[];
type NetworkPolicy = {
  metadata: { name: string };
  spec: {
    ingress?: { from?: object[]; ports?: Ports }[];
    egress?: { to?: { ipBlock?: { cidr: string; except?: string[] } }[] }[];
  };
};
const namesPort = (ports: Ports = [], name: string) => ports.some(({ port }) => port === name);
type Kustomization = {
  resources: string[];
  images: object[];
  configMapGenerator: { name: string; literals: string[] }[];
};

const infra = fileURLToPath(new URL('../../infra', import.meta.url));
const kubernetes = join(infra, 'kubernetes');
const baseFiles = readdirSync(join(kubernetes, 'base')).filter((file) => file !== 'kustomization.yaml');
const manifests = baseFiles.flatMap((file) =>
  parseAllDocuments(readFileSync(join(kubernetes, 'base', file), 'utf8')).map((one) => one.toJS() as Manifest),
);
const pods = manifests.flatMap(({ metadata, spec }) => {
  const pod = spec.template?.spec;
  return pod === undefined ? [] : [{ name: metadata.name, pod }];
});
const containers = pods.flatMap(({ name, pod }) => pod.containers.map((container) => ({ of: name, pod, container })));
const kustomization = (folder: string) =>
  parse(readFileSync(join(kubernetes, folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
const mountedAt = '/run/secrets/countersign';
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  cpSync(join(infra, 'compose'), join(scratch, 'compose'), { recursive: true });
  execFileSync('sh', [join(scratch, 'compose/init')]);
  writeFileSync(join(secretsFolder(), 'smtp_url'), 'smtp://mail.example.net:587', { mode: 0o600 });
});

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const secretsFolder = () => join(scratch, 'compose/secrets');

function settingsOf(names: string[], overlay: string): Record<string, string> {
  const generators = [...kustomization('base').configMapGenerator, ...kustomization(overlay).configMapGenerator];
  const literals = generators.filter(({ name }) => names.includes(name)).flatMap(({ literals: values }) => values);
  return environmentIn(literals.join('\n'));
}

/** The environment of the container, after an operator wrote the keys into the overlay. */
function environmentOf({ env = [], envFrom = [] }: Container, overlay: string): Record<string, string> {
  const settings = settingsOf(
    envFrom.map(({ configMapRef }) => configMapRef.name),
    overlay,
  );
  const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return withSecretsIn(secretsFolder(), mountedAt, { ...ofImage, ...settings, ...own });
}

describe('the manifests', () => {
  const services = containers.flatMap((each) => {
    const service = serviceOfImage(each.container.image);
    return service === null ? [] : [{ ...each, service }];
  });
  const overlays = ['overlays/development', 'overlays/production'];

  it.each(overlays)('of %s give each service an environment that the service accepts in production', (overlay) => {
    expect(services.map(({ container }) => container.name).sort()).toEqual(
      register.map(({ container }) => container).sort(),
    );
    for (const { container, service } of services) {
      const named: Record<string, string> =
        container.name === 'kernel' && overlay.endsWith('production') ? { GOV_LOG_ORIGIN: 'a.example/log' } : {};
      expect(() => readEnvironment(service, { ...environmentOf(container, overlay), ...named })).not.toThrow();
    }
  });

  it.each(register)('migrate $name as the owner of its schema, and run it with its own role and ports', (row) => {
    const { name, schema, container, ports } = row;
    const found = services.find(({ service }) => service === name);
    expect(found?.container).toMatchObject({ name: container, image: `countersign/${name}` });
    const opened = (found?.container.ports ?? []).map(({ containerPort }) => containerPort);
    expect(opened).toEqual(expect.arrayContaining([ports.main, ports.health]));
    const valueOf = (of: string, variable: string) =>
      containers
        .find((each) => each.of === of && (of !== 'migrate' || each.container.args?.includes(name) === true))
        ?.container.env?.find((each) => each.name === variable)?.value;
    expect(found?.container.env).toContainEqual({
      name: 'DATABASE_URL_FILE',
      value: `${mountedAt}/${schema}_database_url`,
    });
    expect(valueOf('migrate', 'DATABASE_URL_FILE')).toBe(`${mountedAt}/${schema}_owner_url`);
    for (const kind of ['database', 'owner'])
      expect(valueOf('provision', `${prefixOf(row)}_${kind.toUpperCase()}_PASSWORD_FILE`)).toBe(
        `${mountedAt}/${schema}_${kind}_password`,
      );
    const put = readFileSync(join(kubernetes, 'secrets'), 'utf8').split(/\s+/);
    const files = ['database_password', 'owner_password', 'owner_url', 'database_url', 'amqp_url'];
    expect(put).toEqual(expect.arrayContaining(files.map((file) => `${schema}_${file}`)));
    expect(kustomization('base').images).toContainEqual(expect.objectContaining({ name: `countersign/${name}` }));
  });

  it('leave the name of the log in production to the operator, and the kernel does not start without it', () => {
    const kernel = services.find(({ container }) => container.name === 'kernel')?.container as Container;
    const read = () => readEnvironment('governance-kernel', environmentOf(kernel, 'overlays/production'));
    expect(read).toThrow('GOV_LOG_ORIGIN is missing: choose the name of the log once');
  });

  it('make the kernel a sidecar of the gateway, and the gateway does not start without a kernel', () => {
    const gateway = pods.find(({ name }) => name === 'gateway');
    expect(gateway?.pod.containers.map(({ name }) => name)).toEqual(['gateway', 'kernel']);
    const { GOV_FAIL_CLOSED: failClosed, GOV_GOVERNANCE_URL: url } = environmentOf(
      gateway?.pod.containers[0] as Container,
      'overlays/production',
    );
    expect([failClosed, url]).toEqual(['1', 'http://127.0.0.1:8080']);
  });

  it('let no container write, gain privileges or run without limits', () => {
    for (const { of, pod, container } of containers) {
      const { runAsNonRoot, seccompProfile } = pod.securityContext ?? {};
      expect([of, runAsNonRoot, seccompProfile, pod.automountServiceAccountToken]).toEqual([
        of,
        true,
        { type: 'RuntimeDefault' },
        false,
      ]);
      expect([container.name, container.securityContext]).toEqual([
        container.name,
        { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      ]);
      expect(container.resources?.limits?.['memory']).toBeDefined();
      expect(container.resources?.requests?.['cpu']).toBeDefined();
    }
  });

  it('probe liveness at /health/live, and readiness at /health/ready', () => {
    for (const { container } of services) {
      expect(container.livenessProbe?.httpGet.path).toBe('/health/live');
      // The kernel has no readiness probe. A kernel that can only deny must not take the pod's traffic away, since the
      // gateway explains the denials.
      const request = container.name === 'kernel' ? undefined : '/health/ready';
      expect([container.name, container.readinessProbe?.httpGet.path]).toEqual([container.name, request]);
    }
  });

  it('let only the control plane and the commercial gateway reach the kernel, and no tool the metadata address of a cloud', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as NetworkPolicy[];
    const closed = policies.find(({ metadata }) => metadata.name === 'nothing-by-default');
    expect(closed?.spec).toEqual({
      podSelector: {
        matchExpressions: [
          {
            key: 'app.kubernetes.io/name',
            operator: 'In',
            values: ['gateway', 'control-plane', 'commercial-gateway', 'migrations'],
          },
        ],
      },
      policyTypes: ['Ingress', 'Egress'],
    });
    const toKernel = policies
      .flatMap(({ spec }) => spec.ingress ?? [])
      .filter(({ ports }) => namesPort(ports, 'kernel'));
    expect(toKernel.map(({ from }) => from)).toEqual([
      [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'control-plane' } } }],
      // The commercial gateway reads receipts, with the key of sibling services.
      [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'commercial-gateway' } } }],
    ]);
    const blocks = policies.flatMap(({ spec }) => (spec.egress ?? []).flatMap(({ to = [] }) => to));
    const outside = blocks.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock]));
    expect(outside.length).toBeGreaterThan(0);
    for (const { cidr, except } of outside)
      expect(except).toContain(cidr === '::/0' ? 'fd00:ec2::254/128' : '169.254.0.0/16');
  });

  it('mount exactly the secrets that each container reads, and the secrets command makes all of them', () => {
    const made = secretsMadeBy(join(kubernetes, 'secrets'));
    for (const { pod, container } of containers) {
      const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === mountedAt);
      const { secretName = '' } = pod.volumes?.find(({ name }) => name === mount?.name)?.secret ?? {};
      const files = (container.env ?? [])
        .filter(({ value }) => value.startsWith(`${mountedAt}/`))
        .map(({ value }) => value.slice(mountedAt.length + 1));
      expect(files.filter((file) => !(made.get(secretName) ?? []).includes(file))).toEqual([]);
      if (container.image !== 'countersign/migrations') expect(files.sort()).toEqual(made.get(secretName)?.toSorted());
    }
  });
});

/** Runs the command with a kubectl that records its arguments. */
function secretsMadeBy(command: string): Map<string, string[]> {
  const message = join(scratch, 'asked');
  const kubectl = join(scratch, 'kubectl');
  writeFileSync(
    kubectl,
    `#!/bin/sh\ncase "$*" in *create*) printf '%s\\n' "$*" >>"${message}" ;; *) cat >/dev/null ;; esac\n`,
  );
  chmodSync(kubectl, 0o700);
  cpSync(command, join(scratch, 'kubernetes/secrets'));
  const env = { ...process.env, PATH: `${scratch}:${process.env['PATH'] ?? ''}` };
  execFileSync('sh', [join(scratch, 'kubernetes/secrets')], { env });
  const lines = readFileSync(message, 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => [
      / generic (\S+)/.exec(line)?.[1] ?? '',
      [...line.matchAll(/--from-file=([^=\s]+)=/g)].map(([, file = '']) => file),
    ]),
  );
}
