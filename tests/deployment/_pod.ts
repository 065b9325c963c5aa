import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { podman, type Installation } from './_containers.ts';
import { environmentIn } from './_environment.ts';
import type { Manifest } from './_manifest-faults.ts';

type Variable = { name: string; value: string };
type Container = {
  name: string;
  image: string;
  env: Variable[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number; hostPort?: number }[];
};
type Rendered = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template: {
      spec: { containers: Container[]; volumes: { name: string; secret?: unknown }[]; securityContext: unknown };
    };
  };
};

const overlays = fileURLToPath(new URL('../../infra/kubernetes/overlays', import.meta.url));
const podName = 'countersign-deploy-test-gateway';

export type GatewayPod = { kernel: string; health(of: 'ready' | 'live'): number | null; remove(): void };

/** The manifests that kustomize renders for an overlay. */
export function rendered(overlay: string): Manifest[] {
  const text = execFileSync('kubectl', ['kustomize', join(overlays, overlay)], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/**
 * The gateway's pod as kustomize renders it. Podman runs it in the network of an installation. Podman supports neither
 * ConfigMaps of a cluster nor groups of volumes, so settings and secrets come from the installation's own files.
 */
export function playGatewayPod(installation: Installation, port: number): GatewayPod {
  const manifests = rendered('development') as Rendered[];
  const settings = new Map(
    manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data }) => [metadata.name, data ?? {}]),
  );
  const gateway = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'gateway');
  const spec = gateway?.spec?.template.spec;
  if (spec === undefined) throw new Error('kustomize rendered no gateway.');
  const containers = spec.containers.map(({ name, image, env, envFrom = [], ports = [], ...rest }) => {
    const common = envFrom.flatMap(({ configMapRef }) => Object.entries(settings.get(configMapRef.name) ?? {}));
    const own = env.map((variable): [string, string] => [variable.name, variable.value]);
    const all = new Map([...common, ...own, ...Object.entries(ofInstallation(installation, name))]);
    if (all.has('GOV_SMTP_URL')) all.delete('GOV_SMTP_URL_FILE');
    return {
      ...withoutProbes(rest),
      name,
      image: `localhost/${image}`,
      imagePullPolicy: 'Never',
      env: [...all].map(([variable, value]) => ({ name: variable, value })),
      ports: ports.filter((one) => one.name === 'public').map((one) => ({ ...one, hostPort: port })),
    };
  });
  const volumes = spec.volumes.map((volume) =>
    volume.secret === undefined
      ? volume
      : { name: volume.name, hostPath: { path: join(installation.folder, 'secrets') } },
  );
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName },
    spec: { restartPolicy: 'Never', securityContext: spec.securityContext, containers, volumes },
  };
  const file = join(installation.folder, 'pod.json');
  writeFileSync(file, JSON.stringify(pod));
  podman('play', 'kube', '--network', 'countersign-deploy-test_inside', file);
  return {
    kernel: `${podName}-kernel`,
    health: (of) => {
      const url = `READY_URL=http://127.0.0.1:3101/health/${of}`;
      return spawnSync('podman', ['exec', '--env', url, `${podName}-gateway`, 'node', '/app/ready.mjs']).status;
    },
    remove: () => void podman('pod', 'rm', '--force', podName),
  };
}

function ofInstallation({ folder }: Installation, container: string): Record<string, string> {
  const files = ['trust.env', `${container}.env`, `${container}-keys.env`].map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  );
  return Object.assign({}, ...files.map(environmentIn)) as Record<string, string>;
}

function withoutProbes<Given extends object>(container: Given): Partial<Given> {
  return Object.fromEntries(Object.entries(container).filter(([name]) => !name.endsWith('Probe'))) as Partial<Given>;
}
