import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { CallMembers, Digest } from '../scalars.ts';
import { DecisionReply } from './evaluate.ts';
import { SignedReceipt } from './receipt.ts';

/** Anonymous callers send these bodies. 16 KiB is several times the size of a receipt. */
const demoBodyBytesMax = 16_384;

export const DemoAction = z.enum([
  'read_ticket',
  'draft_reply',
  'small_refund',
  'large_refund',
  'modify_policy',
  'dangerous_shell',
  'export_customer_list',
]);

export const runDemo = defineRoute({
  operation: 'run-demo',
  summary: 'Decide a sample action in the demo tenant, with the same decision cycle as all calls.',
  method: 'POST',
  path: '/api/demo/run',
  auth: 'public',
  idempotency: { exempt: 'anonymous' },
  governed: true,
  bodyBytesMax: demoBodyBytesMax,
  body: z.strictObject({ action_id: DemoAction, args: CallMembers.default({}) }),
  reply: DecisionReply.extend({ verification_hint: z.string() }),
});

const DemoVerification = z.strictObject({
  valid: z.boolean(),
  signature_valid: z.boolean(),
  hash_matches: z.boolean(),
  code: z.string().nullable(),
  receipt_hash: Digest,
  expected_receipt_hash: Digest,
});

export const verifyDemo = defineRoute({
  operation: 'verify-demo',
  summary: 'Verify a receipt of the demo with the public verifier.',
  method: 'POST',
  path: '/api/demo/verify',
  auth: 'public',
  idempotency: { exempt: 'reads' },
  bodyBytesMax: demoBodyBytesMax,
  body: z.strictObject({ receipt: SignedReceipt, expected_receipt_hash: Digest }),
  reply: DemoVerification,
});

export const tamperDemo = defineRoute({
  operation: 'tamper-demo',
  summary: 'Change one member of a receipt, and show that its verification fails.',
  method: 'POST',
  path: '/api/demo/tamper',
  auth: 'public',
  idempotency: { exempt: 'reads' },
  bodyBytesMax: demoBodyBytesMax,
  body: z.strictObject({
    receipt: SignedReceipt,
    expected_receipt_hash: Digest,
    mutation: z
      .enum(['flip_verdict', 'change_action', 'change_principal', 'flip_signature_bit'])
      .default('flip_verdict'),
  }),
  reply: DemoVerification.extend({ mutation: z.string(), original_hash: Digest, tampered_receipt: z.unknown() }),
});
