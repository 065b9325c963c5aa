import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  decodeHex,
  leafHash,
  openCosignatures,
  parseCheckpoint,
  parseCosignerVkey,
  parseTlogProof,
  splitNote,
  verifyInclusion,
} from '@countersign/crypto';
import { nodeProvider as provider } from '@countersign/crypto/node';
import { parseKeySet, parseLogPolicy, verifyExport } from '@countersign/verifier';
import { untilAnswered } from '@countersign/testkit/until';
import { kernelConfigFrom } from '../src/index.ts';
import { asAdministrator } from './_administrator.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { seal } from './_seal.ts';
import { startWitness, type ScriptedWitness } from './_witness.ts';

let witness: ScriptedWitness;
let test: TestKernel;
beforeEach(async () => {
  witness = await startWitness();
  test = await startTestKernel({ env: witness.env, twins: false });
  await test.activate('*', starterPolicy);
});
afterEach(async () => {
  await test.close();
  await witness.close();
});

const get = async (path: string, method = 'GET') => {
  const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' };
  return await fetch(`${test.kernel.url}${path}`, { method, headers });
};
const checkpointed = async () => {
  const made = await get('/api/v1/boundary/checkpoints', 'POST');
  return (await made.json()) as { tree_size: number; note: string }; // the kernel's own answer
};
const stored = async () => {
  const { rows } = await test.pool.query<{ tree_size: string }>(
    'SELECT tree_size FROM cosignatures ORDER BY tree_size',
  );
  return rows.map(({ tree_size }) => Number(tree_size));
};
/** The kernel sends its newest checkpoint only, which may contain a heartbeat that it sealed in between. */
const untilStored = (size: number) => untilAnswered(async () => (await stored()).some((each) => each >= size));
const cosignatures = (note: string) => note.split('\n').filter((line) => line.includes(' witness.example.org/w1 '));

describe('a checkpoint', () => {
  it('is cosigned, and is served and exported with its cosignature', async () => {
    await seal(test);
    await seal(test);
    const { tree_size } = await checkpointed();
    await untilStored(tree_size);
    const latest = (await (await get('/api/v1/log/checkpoint')).json()) as { note: string }; // the kernel's own answer
    expect(cosignatures(latest.note)).toHaveLength(1);
    const { receipt_id, receipt } = await seal(test);
    const session = receipt.payload.session_id;
    const last = await checkpointed();
    await untilStored(last.tree_size);
    const proof = await (await get(`/api/v1/log/proof/inclusion?receipt_id=${receipt_id}`)).json();
    expect(cosignatures((proof as { checkpoint: { note: string } }).checkpoint.note)).toHaveLength(1);
    const lines = (await (await get(`/api/v1/receipts/export?session_id=${session}`)).text()).trim().split('\n');
    const trust = parseKeySet(await (await get('/api/v1/trust/keys')).json());
    const policy = parseLogPolicy(`witness W ${witness.vkey}\nquorum W\n`, provider);
    const report = verifyExport(lines, { trust, provider, policy });
    expect(report).toMatchObject({ verdict: 'VERIFIED', time: 'WITNESSED', fault: null });
    // Without the witness policy, cosignatures do not count, so the time is only logged.
    expect(verifyExport(lines, { trust, provider })).toMatchObject({ verdict: 'VERIFIED', time: 'LOGGED' });
  });

  it('is cosigned in a pack, and the statement of the pack stays the same', async () => {
    await seal(test);
    await untilStored((await checkpointed()).tree_size);
    const exported = async () => {
      const headers = {
        authorization: `Bearer ${adminKey}`,
        'x-gov-tenant-id': 'acme',
        'content-type': 'application/json',
      };
      const answer = await fetch(`${test.kernel.url}/api/v1/evidence/export`, { method: 'POST', headers, body: '{}' });
      return (await answer.text()).trim().split('\n');
    };
    const first = await exported();
    const size = Number((JSON.parse(first.at(-1) ?? '') as { checkpoint: string }).checkpoint.split('\n')[1]);
    await untilStored(size);
    const second = await exported();
    const third = await exported();
    expect(second.slice(0, -1)).toEqual(first.slice(0, -1));
    expect(third).toEqual(second);
    const trust = parseKeySet(await (await get('/api/v1/trust/keys')).json());
    const policy = parseLogPolicy(`witness W ${witness.vkey}\nquorum W\n`, provider);
    expect(verifyExport(third, { trust, provider, policy })).toMatchObject({ verdict: 'VERIFIED', time: 'WITNESSED' });
  });

  it('makes the time WITNESSED for a policy of the caller, and only LOGGED without its quorum', async () => {
    await seal(test);
    await untilStored((await checkpointed()).tree_size);
    const session = (await seal(test)).receipt.payload.session_id;
    await untilStored((await checkpointed()).tree_size);
    const evidence = await (await get(`/api/v1/receipts/export?session_id=${session}`)).text();
    const judged = async (witness_policy?: string) =>
      (await test.as('acme').verifyEvidence({ body: { evidence, witness_policy } })).body;
    const policy = `witness W ${witness.vkey}\n`;
    const report = await judged(`${policy}quorum W\n`);
    expect(report).toMatchObject({ verdict: 'VERIFIED', time: 'WITNESSED', witnessed: { by: expect.any(String) } });
    expect(await judged()).toMatchObject({ verdict: 'VERIFIED', time: 'LOGGED', witnessed: null });
    const foreign = await startWitness();
    await foreign.close();
    const both = `${policy}witness F ${foreign.vkey}\ngroup all all W F\nquorum all\n`;
    expect(await judged(both)).toMatchObject({ verdict: 'INCOMPLETE', time: 'LOGGED', witnessed: null });
    await expect(judged('quorum W\n')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('is in the tlog-proof of a receipt, with its cosignature and the receipt', async () => {
    const { receipt_id, receipt } = await seal(test);
    await untilStored((await checkpointed()).tree_size);
    const query = { receipt_id };
    const { index, proof, checkpoint, extra } = parseTlogProof(
      (await test.as('acme').getTlogProof({ query })).body.tlog_proof,
    );
    const [cosigned] = openCosignatures(provider, checkpoint, [parseCosignerVkey(provider, witness.vkey)]);
    expect(cosigned?.seconds).toBeGreaterThan(0);
    const { size, root } = parseCheckpoint(splitNote(checkpoint).text);
    const leaf = leafHash(provider, decodeHex(receipt.receipt_hash.slice('sha256:'.length)));
    expect(() => verifyInclusion(provider, { index, size, leafHash: leaf, proof, root })).not.toThrow();
    const { payload, signature } = receipt;
    expect(JSON.parse(Buffer.from(extra ?? []).toString('utf8'))).toEqual({ payload, signature });
    await expect(test.as('globex').getTlogProof({ query })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('waits for an unreachable witness without delaying decisions', async () => {
    witness.mode = 'away';
    await seal(test);
    const { tree_size } = await checkpointed();
    await seal(test);
    expect(await stored()).toEqual([]);
    witness.mode = 'well';
    await untilStored(tree_size);
  });

  it('is sent again when the response of the witness was lost, even after a restart', async () => {
    witness.mode = 'forgetful';
    await seal(test);
    const { tree_size } = await checkpointed();
    await untilAnswered(() => Promise.resolve(witness.sizes.some((size) => size >= tree_size)));
    expect(await stored()).toEqual([]);
    witness.mode = 'well';
    await test.restart();
    await untilStored(tree_size);
  });

  it('gets only cosignatures that verify', async () => {
    witness.mode = 'false';
    await seal(test);
    const { tree_size } = await checkpointed();
    await untilAnswered(() => Promise.resolve(witness.sizes.filter((size) => size >= tree_size).length > 1));
    expect(await stored()).toEqual([]);
    witness.mode = 'well';
    await untilStored(tree_size);
  });
});

describe('a log that differs from what its witness cosigned', () => {
  const reported = async () => {
    const ready = await fetch(`${test.kernel.healthUrl}/health/ready`);
    const metrics = await (await fetch(`${test.kernel.healthUrl}/metrics`)).text();
    const { checks } = (await ready.json()) as { checks: { witnesses: string } }; // the kernel's own answer
    return [ready.status, checks.witnesses, /^countersign_witness_contradictions (\d+)$/m.exec(metrics)?.[1]];
  };
  const isDown = async () => (await reported())[1] === 'down';
  /** Removes later checkpoints and cosignatures, like the restore of a backup. */
  const loseAfter = async (size: number) => {
    for (const table of ['cosignatures', 'checkpoints'])
      await asAdministrator(test, `DELETE FROM ${table} WHERE tree_size > ${size}`);
  };

  it('is reported at the start, and the kernel still decides', async () => {
    await seal(test);
    const { tree_size: kept } = await checkpointed();
    await untilStored(kept);
    expect(await reported()).toEqual([200, 'up', '0']);
    await seal(test);
    const { tree_size: lost } = await checkpointed();
    await untilStored(lost);
    await loseAfter(kept);
    await test.restart();
    await untilAnswered(isDown);
    expect(await reported()).toEqual([200, 'down', '1']);
    expect(await seal(test)).toMatchObject({ verdict: 'ALLOW' });
    // The lost checkpoint is created again from the same receipts, so the log matches the witness again.
    await checkpointed();
    await untilAnswered(async () => !(await isDown()));
    expect(await reported()).toEqual([200, 'up', '0']);
  });
});

describe('a log whose witness cosigned a different history', () => {
  it('is reported at each start', async () => {
    expect(await witness.forge(1)).toBe(200);
    await seal(test);
    await checkpointed();
    const isDown = async () => {
      const ready = await fetch(`${test.kernel.healthUrl}/health/ready`);
      return ((await ready.json()) as { checks: { witnesses: string } }).checks.witnesses === 'down'; // the kernel's own answer
    };
    await untilAnswered(isDown);
    expect(await stored()).toEqual([]);
    await test.restart();
    await untilAnswered(isDown);
  });
});

describe('the configuration of witnesses', () => {
  it.each([
    ['a missing key', { GOV_WITNESS_KEY: '' }, /0 keys for 1 addresses/],
    ['an invalid address', { GOV_WITNESS_URL: 'witness' }, /not an http or https address/],
    ['the key of a log', { GOV_WITNESS_KEY: 'a+00000000+AQ==' }, /GOV_WITNESS_KEY/],
  ])('with %s stops the start', (_, changed, problem) => {
    expect(() => kernelConfigFrom({ ...test.env, ...changed })).toThrow(problem);
  });
});
