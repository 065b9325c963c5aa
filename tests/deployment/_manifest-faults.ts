import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';

export type Manifest = { apiVersion: string; kind: string; metadata: { name: string } };
type Validated = new (manifest: object) => { validate(): void };

const schemas: Readonly<Record<string, object>> = {
  'apps/v1': apps,
  'autoscaling/v2': autoscaling,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  v1: core,
};

/**
 * The faults of a manifest by the schemas of Kubernetes. An unknown member is a fault too, as for `kubectl apply
 * --validate=strict`. The validators read every member that they define, so any unread member is unknown.
 */
export function manifestFaults(manifest: Manifest): string[] {
  const { apiVersion, kind } = manifest;
  const Kind = Reflect.get(schemas[apiVersion] ?? {}, kind) as Validated | undefined; // the models of the client are classes of this kind
  if (Kind === undefined) return [`${apiVersion} has no ${kind}`];
  const unread = new Set<string>();
  try {
    // The members are assigned afterwards, because the constructor would read all of them.
    Object.assign(new Kind({}), watched(manifest, '', unread)).validate();
  } catch (error) {
    return [String(error)];
  }
  return [...unread].map((path) => `${path} is unknown`);
}

/** A copy of the value, which removes the path of each member from `unread` when the member is read. */
function watched<Value extends object>(value: Value, at: string, unread: Set<string>): Value {
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
    const path = `${at}/${name}`;
    unread.add(path);
    return [name, typeof member === 'object' && member !== null ? watched(member, path, unread) : member] as const;
  });
  const copy = Object.assign(Array.isArray(value) ? [] : {}, Object.fromEntries(members)) as Value; // copied member by member
  return new Proxy(copy, {
    get: (target, name, receiver) => {
      unread.delete(`${at}/${String(name)}`);
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}
