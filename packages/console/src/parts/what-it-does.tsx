import { sentenceOfCall } from '@countersign/contracts/governance-kernel';
import { Shown } from './shown.tsx';

type Call = {
  tool: string | null;
  action: string;
  args: Readonly<Record<string, unknown>> | null;
  says?: string | undefined;
};

/**
 * The sentence of the policy about a call, with the values of the call marked, or "call" and the name of the tool.
 * It contains no text of a tool.
 */
export function WhatItDoes({ call: { tool, action, args, says } }: { call: Call }) {
  const pieces = says === undefined || args === null ? null : sentenceOfCall(says, args);
  if (pieces === null)
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
      {pieces.map(({ text, isValue }, nth) =>
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
