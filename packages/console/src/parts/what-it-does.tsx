import { sentenceOfCall } from '@countersign/contracts/governance-kernel';
import { Shown } from './shown.tsx';

type Call = {
  tool: string | null;
  action: string;
  args: Readonly<Record<string, unknown>> | null;
  says: string | null;
};

/**
 * What a call does: the sentence of the policy, with the values of the call marked, or "call" and the name of the tool.
 * It contains no text of a tool.
 */
export function WhatItDoes({ call: { tool, action, args, says } }: { call: Call }) {
  const parts = says === null || args === null ? null : sentenceOfCall(says, args);
  if (parts === null)
    return (
      <>
        call{' '}
        <strong>
          <Shown text={tool ?? action} />
        </strong>
      </>
    );
  return (
    <>
      {parts.map(({ text, isValue }, nth) =>
        isValue ? (
          <strong key={nth}>
            <Shown text={text} />
          </strong>
        ) : (
          <Shown key={nth} text={text} />
        ),
      )}
    </>
  );
}
