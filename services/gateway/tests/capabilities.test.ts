import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import { capabilityOf } from '../src/capabilities/capabilities.ts';
import { catalogue, type CatalogueEntry } from '../src/capabilities/catalogue.ts';
import { clientOf, startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let folder: string;
const commit = 'a'.repeat(40);
const recordedAt = '2026-11-22T10:00:00.000Z';

const whole = wanted(({ unproven }) => unproven.length === 0);
const partly = wanted(({ unproven, promises }) => unproven.length > 0 && unproven.length < promises.length);

beforeAll(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'countersign-evals-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database?.drop();
});

function wanted(matches: (entry: CatalogueEntry) => boolean): CatalogueEntry {
  const entry = catalogue.find(matches);
  if (entry === undefined) throw new Error('No entry of the catalogue matches');
  return entry;
}

function recordOf(promises: Record<string, string>, of = commit): string {
  const file = join(folder, 'record.json');
  writeFileSync(file, JSON.stringify({ recordedAt, commit: of, promises }));
  return file;
}

const allOf = ({ promises }: CatalogueEntry) => Object.fromEntries(promises.map((id) => [id, 'passed']));

/** Returns the capabilities of a gateway with these environment variables. */
async function askWith(variables: Record<string, string>) {
  const gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', ...variables }));
  const client = clientOf(gateway.url, {});
  const { body } = await client.listCapabilities();
  const one = async ({ key }: CatalogueEntry) => (await client.getCapability({ params: { key } })).body;
  const answer = { ...body, whole: await one(whole), partly: await one(partly) };
  await expect(client.getCapability({ params: { key: 'time_travel' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await gateway.stop();
  return answer;
}

describe('the published capabilities', () => {
  verifies('gw.capabilities', 'are production ready only with a passed test run of this build', async () => {
    const file = recordOf({ ...allOf(whole), ...allOf(partly) });
    const answer = await askWith({ GOV_EVAL_RECORD: file, GOV_BUILD_COMMIT: commit });
    expect(answer.whole).toMatchObject({
      state: 'production_ready',
      blockers: [],
      owner: whole.owner,
      evalGate: { command: 'make test', promises: whole.promises },
      evidence: { commit, recordedAt, promises: allOf(whole) },
      updatedAt: recordedAt,
    });
    expect(answer.partly).toMatchObject({ state: 'prototype' });
    expect(answer.partly.blockers).toContain(`No test proves ${partly.unproven[0]} yet`);
    expect(capabilityOf({ ...partly, unproven: partly.promises }, null).state).toBe('planned');
    expect(answer.summary).toMatchObject({ total: catalogue.length, byState: { production_ready: 1, blocked: 0 } });
  });

  verifies('gw.capabilities', 'name each obstacle: a failure, an untested promise, a missing run', async () => {
    const [first = '', ...others] = whole.promises;
    const failed = recordOf({ ...allOf(whole), [first]: 'failed' });
    expect((await askWith({ GOV_EVAL_RECORD: failed, GOV_BUILD_COMMIT: commit })).whole).toMatchObject({
      state: 'blocked',
      blockers: [`${first} failed in the recorded run`],
    });
    const skipped = recordOf(Object.fromEntries(others.map((id) => [id, 'passed'])));
    expect((await askWith({ GOV_EVAL_RECORD: skipped, GOV_BUILD_COMMIT: commit })).whole).toMatchObject({
      state: 'implemented',
      blockers: [`The recorded run did not try ${first}`],
    });
    const unrecorded = {
      state: 'implemented',
      evidence: null,
      blockers: ['No run of `make test` is recorded for this code'],
    };
    const starts: Record<string, string>[] = [
      {},
      { GOV_EVAL_RECORD: recordOf(allOf(whole)) },
      { GOV_EVAL_RECORD: recordOf(allOf(whole), 'b'.repeat(40)), GOV_BUILD_COMMIT: commit },
    ];
    for (const variables of starts) expect((await askWith(variables)).whole).toMatchObject(unrecorded);
  });

  it('are not read from a file without a record: the gateway does not start', () => {
    const file = join(folder, 'not-a-record.json');
    for (const text of ['', '{}', JSON.stringify({ recordedAt, commit, promises: { 'kn.budget': 'maybe' } })]) {
      writeFileSync(file, text);
      expect(() => testConfig(database, { GOV_EVAL_RECORD: file })).toThrow('holds no record of a test run');
    }
    expect(() => testConfig(database, { GOV_EVAL_RECORD: join(folder, 'missing.json') })).toThrow('no record');
  });
});
