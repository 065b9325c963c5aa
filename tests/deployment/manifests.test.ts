import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { manifestFaults, type Manifest } from './_manifest-faults.ts';

const kubernetes = fileURLToPath(new URL('../../infra/kubernetes', import.meta.url));
/** Kinds of kustomize, and of the operators in the examples. */
const foreign = ['Kustomization', 'Cluster', 'RabbitmqCluster', 'PodMonitor'];

const manifests = readdirSync(kubernetes, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(join(kubernetes, file), 'utf8')))
  .map((document) => document.toJS() as Manifest);

describe('the schemas of Kubernetes', () => {
  it('find nothing wrong in any manifest', () => {
    const own = manifests.filter(({ kind }) => !foreign.includes(kind));
    expect(own.length).toBeGreaterThan(20);
    expect(own.flatMap((manifest) => manifestFaults(manifest))).toEqual([]);
  });

  it('find a member that they do not name, one of another type, and one that is missing', () => {
    const scaled = manifests.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as unknown as { spec: object };
    const withSpec = (changed: object) => ({ ...scaled, spec: { ...scaled.spec, ...changed } });
    const faults = [{ minReplica: 2 }, { minReplicas: 'two' }, { scaleTargetRef: { kind: 'Deployment' } }].map(
      (changed) => manifestFaults(withSpec(changed) as never), // as a file with a slip of the pen
    );
    expect(faults).toEqual([
      ['/spec/minReplica is unknown'],
      [expect.stringContaining('minReplicas must be integer')],
      [expect.stringContaining('must have required property name')],
    ]);
  });
});
