import { decodeHex, encodeBase64Url } from '@countersign/crypto';
import { createSigner } from '@countersign/crypto/signing';
import { nodeProvider } from '@countersign/crypto/node';
import { activationBytes, intentHash } from '@countersign/receipts';
import { chainOfRecords, exportOf, hashOf, jwkOf, recordOf, testKeys, testSigner } from './chain-fixture.ts';
import type { Changes, Members } from './chain-fixture.ts';
import { invalid, under, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

/** The private key of RFC 8032 §7.1, TEST SHA(abc). */
export const policySigner = createSigner(decodeHex('833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42'));
const confirmed_at = '2026-02-01T00:00:00.000Z';

function keys(changes: Members = {}): { keys: Members[] } {
  return { keys: [...testKeys().keys, { ...jwkOf(policySigner, 'policies'), ...changes }] };
}

type Statement = { tenant?: string; epoch?: number; confirmedAt?: string };

/** A signature with the policy key over the record below, or over a record with other members. */
function signatureOf(
  { tenant = 'acme', epoch = 3, confirmedAt = confirmed_at }: Statement,
  signer = policySigner,
): Members {
  const statement = { tenant, epoch, confirmedAt, policyHash: hashOf('policy') } as never; // plain names
  return { alg: 'Ed25519', key_id: signer.keyId, value: encodeBase64Url(signer.sign(activationBytes(statement))) };
}

/** An export with one record, which states that the policy of acme was confirmed. */
async function stated(signature: Members, facts: Changes = {}) {
  const announced = { verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [] };
  const named = { action: 'policy.confirm', tool: null, resource: 'policy:acme', args_hash: hashOf(['args', 1]) };
  const call = { tenant: 'acme', principal: 'agent-1', session: 'session-1', ...named } as never; // args_hash is a digest
  const intent_hash = intentHash(nodeProvider, call);
  const statement = Object.fromEntries(
    Object.entries({ confirmed_at, signature, ...facts }).filter(([, fact]) => fact !== undefined),
  );
  const record = recordOf(1, {
    kind: 'policy',
    ...announced,
    policy_epoch: 3,
    intent: { ...named, intent_hash, facts: statement as Members },
  });
  return await exportOf([chainOfRecords([record])]);
}

/** The signature of the policy key, not that of the receipt key, proves when a policy was confirmed. */
export async function makePolicyVectors(): Promise<Record<string, ReceiptVector>> {
  const refused = async (about: string, statement: Statement) =>
    invalid(about, 'SIGNATURE_INVALID', await stated(signatureOf(statement)), 0, keys());
  const signed = signatureOf({});
  return {
    'valid/policy-confirmed': valid(
      'A policy that was confirmed, with what its key signed.',
      await stated(signed),
      keys(),
    ),
    'invalid/policy-of-another-time': await refused('A time of confirmation that the policy key did not sign.', {
      confirmedAt: '2026-01-01T00:00:00.000Z',
    }),
    'invalid/policy-of-another-epoch': await refused('A statement of the policy key about another epoch.', {
      epoch: 2,
    }),
    'invalid/policy-of-another-tenant': await refused('A statement of the policy key about another tenant.', {
      tenant: 'globex',
    }),
    'invalid/policy-without-signature': invalid(
      'A time of confirmation without a signature.',
      'MALFORMED',
      await stated(signed, { signature: undefined }),
      0,
      keys(),
    ),
    'invalid/policy-of-expired-key': invalid(
      'A statement of a policy key that was not valid any more.',
      'KEY_EXPIRED',
      await stated(signed),
      0,
      keys({ valid_until: confirmed_at }),
    ),
    'undecidable/policy-of-receipt-key': under(keys(), {
      ...invalid(
        'A statement that the key of the receipts signed.',
        'KEY_UNKNOWN',
        await stated(signatureOf({}, testSigner)),
        0,
      ),
      expect: { verdict: 'UNDECIDABLE', code: 'KEY_UNKNOWN', line: 3 },
    }),
  };
}
