import { describe, expect, it } from '@jest/globals';
import { AuditEntry } from '../src/gateway/index.ts';
import { ConformanceVector, RecordedIntent } from '../src/governance-kernel/index.ts';

/** A value that reports each read of its members. */
function watched() {
  let looks = 0;
  const value = new Proxy({ a: 1 }, { ownKeys: (target) => (looks++, Reflect.ownKeys(target)) });
  return { value, looks: () => looks };
}

type Checked = { safeParse: (value: unknown) => { error?: { issues: { path: PropertyKey[] }[] } } };

describe('a value of any JSON, which was checked when its text was parsed', () => {
  // Evidence is parsed before any signature is verified. A million hostile values must not cost a million checks of a
  // union.
  it.each<[string, Checked, (value: unknown) => unknown, string]>([
    ['the facts of a record', RecordedIntent, (value) => ({ facts: { 'args.a': value } }), 'facts'],
    ['the details of an audit entry', AuditEntry, (value) => ({ details: { a: value } }), 'details'],
    [
      'a fact that a vector injects',
      ConformanceVector,
      (value) => ({ surface: 'in_process', given: { tool: 'a', fault: { kind: 'fact', fact: 'request', value } } }),
      'given',
    ],
    [
      'a request body in a vector',
      ConformanceVector,
      (value) => ({ surface: 'live', steps: [{ do: 'call', body: { args: value } }] }),
      'body',
    ],
  ])('is not checked a second time: %s', (_name, schema, holding, member) => {
    const { value, looks } = watched();
    const issues = schema.safeParse(holding(value)).error?.issues ?? [];
    expect(issues.length).toBeGreaterThan(0); // the other members are missing
    expect(issues.flatMap(({ path }) => path)).not.toContain(member);
    expect(looks()).toBe(0);
  });
});
