import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { manifestFaults, type Manifest } from './_manifest-faults.ts';

const kubernetes = fileURLToPath(new URL('../../infra/kubernetes', import.meta.url));
/** Kinds that Kubernetes has no schema for. They belong to kustomize, and to operators that the examples use. */
const foreign = ['Kustomization', 'Cluster', 'RabbitmqCluster', 'PodMonitor'];

const manifests = readdirSync(kubernetes, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(join(kubernetes, file), 'utf8')))
  .map((document) => document.toJS() as Manifest);

describe('the schemas of Kubernetes', () => {
  it('accept every manifest', () => {
    const own = manifests.filter(({ kind }) => !foreign.includes(kind));
    expect(own.length).toBeGreaterThan(20);
    expect(own.flatMap((manifest) => manifestFaults(manifest))).toEqual([]);
  });

  it('reject an unknown member, a member of a wrong type, and a missing member', () => {
    const scaled = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as unknown as { spec: object };
    const withSpec = (changed: object) => ({ ...scaled, spec: { ...scaled.spec, ...changed } });
    const faults = [{ minReplica: 2 }, { minReplicas: 'two' }, { scaleTargetRef: { kind: 'Deployment' } }].map(
      (changed) => manifestFaults(withSpec(changed) as never), // the type excludes these faults, but a file can contain them
    );
    expect(faults).toEqual([
      ['/spec/minReplica is unknown'],
      [expect.stringContaining('minReplicas must be integer')],
      [expect.stringContaining('must have required property name')],
    ]);
  });
});
