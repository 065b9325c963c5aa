import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { ExportEvidence } from '../src/export-evidence.ts';
import { reportOf } from '../src/export-report.ts';
import { parseKeySet, verifyExport, type VerificationErrorCode } from '../src/index.ts';
import { chainOf, chainOfRecords, exportOf, hashOf, linesOf, recordOf, testKeys, type Chain } from './chain-fixture.ts';

const evidence = new ExportEvidence();
const links = { receipts: 1, summaries: () => [] } as never; // a report on a fault reads only these members

const answersTo = (code: VerificationErrorCode) => {
  const fault = { code, message: 'for a test', line: 2, receipt_id: null };
  const { verdict, integrity, completeness, signer, time } = reportOf({
    links,
    period: null,
    pack: null,
    checkpoints: null,
    evidence,
    fault,
    options: {},
  });
  return [verdict, integrity, completeness, signer, time];
};

describe('a report on the first fault contains only what was read before it', () => {
  it.each<[VerificationErrorCode, ...string[]]>([
    ['KEY_UNKNOWN', 'UNDECIDABLE', 'UNDECIDED', 'UNDECIDED', 'UNKNOWN', 'UNDECIDED'],
    ['TOO_LARGE', 'UNDECIDABLE', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED'],
    ['SIGNATURE_INVALID', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_REVOKED', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_EXPIRED', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['KEY_NOT_VALID_YET', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'NOT_TRUSTED', 'UNDECIDED'],
    ['TIME_MISMATCH', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'UNDECIDED', 'CONTRADICTED'],
    ['EMPTY', 'NOT_VERIFIED', 'BROKEN', 'INCOMPLETE', 'UNDECIDED', 'UNDECIDED'],
    ['LINK_MISMATCH', 'NOT_VERIFIED', 'BROKEN', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED'],
  ])('%s', (code, ...answers) => {
    expect(answersTo(code)).toEqual(answers);
  });
});

describe('a report on an export', () => {
  const reportOn = async (chains: Chain[]) =>
    verifyExport(linesOf(await exportOf(chains)), { trust: parseKeySet(testKeys()), provider: nodeProvider });

  it('contains the first and the last instant of all chains, in any order', async () => {
    const [early, late] = [chainOf(2, { session: 'early' }), chainOf(2, { session: 'late', from: 5 })];
    for (const chains of [
      [early, late],
      [late, early],
    ])
      expect((await reportOn(chains)).issued).toMatchObject({
        first: '2026-02-01T00:00:01.000Z',
        last: '2026-02-01T00:00:06.000Z',
      });
  });

  it.each(['trust', 'registry', 'drift'])(
    'does not read a receipt of the kind %s as a head statement',
    async (headKind) => {
      const lines = linesOf(await exportOf([chainOf(2)], { headKind }));
      const { verdict, fault } = verifyExport(lines, { trust: parseKeySet(testKeys()), provider: nodeProvider });
      expect([verdict, fault?.code, fault?.line]).toEqual(['NOT_VERIFIED', 'HEAD_MISMATCH', 2]);
    },
  );

  it('does not take the facts of a policy decision for a statement that the policy key signed', async () => {
    const named = { action: 'policy.change', tool: null, resource: null, args_hash: hashOf(['args', 1]) };
    const call = { tenant: 'acme', principal: 'agent-1', session: 'session-1', ...named } as never; // args_hash is a digest
    const intent = {
      ...named,
      intent_hash: intentHash(nodeProvider, call),
      facts: { confirmed_at: 'as a caller says' },
    };
    expect((await reportOn([chainOfRecords([recordOf(1, { intent })])])).verdict).toBe('VERIFIED');
  });
});
