import { JsonObject } from './json-object.ts';

/** A line of a pack that the page shows. It is unverified content: only the report states whether it is genuine. */
export type Entry = {
  /** Counts from 1. */
  line: number;
  receiptId: string;
  kind: string;
  /** Whether the decision was only evaluated, and permitted and refused nothing. */
  isShadow: boolean;
  at: string;
  session: string;
  principal: string;
  action: string;
  tool: string;
  verdict: string;
  reason: string;
  rules: string;
  approval: string;
};

export type PackPolicyText = { tenant: string; epoch: string; hash: string; bundle: string };

export type PackContent = { entries: Entry[]; policies: PackPolicyText[] };

/** Reads all readable lines. Damaged lines have no entry, and the report names the first of them. */
export function readPack(pack: string): PackContent {
  const content: PackContent = { entries: [], policies: [] };
  for (const [index, text] of pack.split('\n').entries()) {
    const line = JsonObject.parse(text);
    const policy = line.object('policy');
    if (line.has('policy')) content.policies.push(policyOf(policy));
    else if (line.has('receipt')) content.entries.push(entryOf(line, index + 1));
  }
  return content;
}

function policyOf(policy: JsonObject): PackPolicyText {
  return {
    tenant: policy.text('tenant_id'),
    epoch: policy.text('epoch'),
    hash: policy.text('policy_hash'),
    bundle: JSON.stringify(policy.value('bundle'), null, 2),
  };
}

function entryOf(line: JsonObject, number: number): Entry {
  const receipt = line.object('receipt').object('payload');
  const record = line.object('record');
  const intent = record.object('intent');
  return {
    ...{
      line: number,
      receiptId: receipt.text('receipt_id'),
      kind: receipt.text('kind'),
      isShadow: receipt.text('shadow') === 'true',
      at: receipt.text('issued_at'),
    },
    ...{ session: receipt.text('session_id'), principal: receipt.text('principal_id') },
    ...{ action: intent.text('action'), tool: intent.text('tool') },
    ...{ verdict: receipt.text('verdict'), reason: receipt.text('reason_code') },
    ...{ rules: record.list('matched_rules').join(', '), approval: record.text('approval_id') },
  };
}
