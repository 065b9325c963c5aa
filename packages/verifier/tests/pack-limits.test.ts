import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { describeReport } from '../src/describe-report.ts';
import { parseKeySet, verifyExport } from '../src/index.ts';
import { at, decision, packKeys, packOf, policyLine, type PackItem } from './pack-fixture.ts';

const items = [policyLine({ tenant: '*' }), decision(1, '00:00:10')];

async function limitsOf(
  content: PackItem[],
  { keys = packKeys(), checkpoints = [] as { size: number; time: string }[] } = {},
) {
  const lines = await packOf(content, { checkpoints });
  const { fault, limits } = verifyExport(lines, { trust: parseKeySet(keys), provider: nodeProvider });
  expect(fault).toBeNull();
  return limits;
}

describe('the limits of a pack', () => {
  it('count the decisions in shadow', async () => {
    const evaluated = /^effects of 1 shadow decisions/;
    expect(await limitsOf(items)).not.toContainEqual(expect.stringMatching(evaluated));
    const shadow = { ...decision(2, '00:00:20'), change: { shadow: true } };
    expect(await limitsOf([...items, shadow])).toContainEqual(expect.stringMatching(evaluated));
  });

  it('name the leaves of the range that it does not show', async () => {
    const omitted: PackItem = { ...decision(2, '00:00:20', { session_id: 'session-2' }), isOmitted: true };
    const hidden = '1 of the 2 leaves in the range: only the operator states that the scope excludes them';
    expect(await limitsOf(items)).not.toContainEqual(expect.stringContaining('leaves in the range'));
    expect(await limitsOf([...items, omitted])).toContainEqual(hidden);
  });

  it('follow the number of leaves that it shows, in the text of the report', async () => {
    const omitted: PackItem = { ...decision(2, '00:00:20', { session_id: 'session-2' }), isOmitted: true };
    const lines = await packOf([...items, omitted]);
    const report = verifyExport(lines, { trust: parseKeySet(packKeys()), provider: nodeProvider });
    expect(describeReport(report)).toContain('COMPLETE of acme, leaves 0 to 2 of the log (1 of 2 are shown)\n');
  });

  it('name policies of a revoked key, if no checkpoint from before the revocation has a decision under them', async () => {
    const undated = expect.stringMatching(/^whether 1 policies were signed before the revocation of their key/);
    const keys = packKeys({ revoked_at: at('00:30:00') });
    expect(await limitsOf(items)).not.toContainEqual(undated);
    expect(await limitsOf(items, { keys })).toContainEqual(undated);
    const checkpoints = [{ size: 1, time: at('00:10:00') }];
    const shown = await limitsOf([...items, decision(2, '00:40:00')], { keys, checkpoints });
    expect(shown).not.toContainEqual(undated);
  });
});
