import type { McpServerTool } from '@countersign/contracts/governance-kernel';
import { Shown } from '../parts/shown.tsx';

/**
 * The differences between the approved and the current definition, one for each member. All text comes from the server.
 */
export function WhatChanged({ tool: { name, diff } }: { tool: McpServerTool }) {
  return (
    <section aria-label="What changed">
      <h4>
        What changed in{' '}
        <code>
          <Shown text={name} />
        </code>
      </h4>
      {diff.length === 0 && <p className="quiet">The definitions are too long to compare here.</p>}
      {diff.map(({ path, before, after }) => (
        <div key={path} className="diff">
          <p className="quiet">
            <Shown text={path} />
          </p>
          <Lines sign="−" kind="removed" text={before} />
          <Lines sign="+" kind="added" text={after} />
        </div>
      ))}
    </section>
  );
}

function Lines({ sign, kind, text }: { sign: string; kind: 'removed' | 'added'; text: string | null }) {
  if (text === null) return null;
  return (
    <pre className={`diff-${kind}`} tabIndex={0} role="region" aria-label={kind === 'added' ? 'Current' : 'Approved'}>
      {text.split('\n').map((line, nth) => (
        <span key={nth}>
          {sign} <Shown text={line} />
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
