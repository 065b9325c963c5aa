import { sentenceOfCall, type Approval } from '@countersign/contracts/governance-kernel';

/**
 * The sentence of the policy about this call. Values are quoted, since the caller wrote them. Quotes within a value are
 * escaped, so that no value ends early and continues in the words of the policy.
 */
export function approvalSentence({
  says,
  args,
  requested_by: by,
}: Pick<Approval, 'says' | 'args' | 'requested_by'>): string | null {
  const pieces = says === undefined || args === null ? null : sentenceOfCall(says, args);
  if (pieces === null) return null;
  return `${by} wants to ${pieces.map(({ text, isValue }) => (isValue ? JSON.stringify(text) : text)).join('')}`;
}
