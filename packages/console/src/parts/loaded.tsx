import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemNote } from './problem-note.tsx';

type Props<Data> = {
  query: UseQueryResult<Data>;
  /** Old data is dimmed. The children are in a box of their own then. */
  dims?: boolean;
  children: (data: Data) => ReactNode;
};

/**
 * The data of a query. When a later read fails, the shown data is called old, so that it is not taken for the current
 * state.
 */
export function Loaded<Data>({ query, dims = false, children }: Props<Data>) {
  const { data, error, dataUpdatedAt } = query;
  const again = () => void query.refetch();
  if (data === undefined) return error === null ? <Waiting /> : <ProblemNote error={error} again={again} />;
  return (
    <>
      {error !== null && (
        <>
          <ProblemNote error={error} again={again} />
          <p className="stale">
            Last updated at {new Date(dataUpdatedAt).toLocaleTimeString('en-GB')} and may be out of date.
          </p>
        </>
      )}
      {dims ? <div {...(error !== null && { className: 'old' })}>{children(data)}</div> : children(data)}
    </>
  );
}

function Waiting() {
  return (
    <p className="quiet waiting" role="status">
      Loading…
    </p>
  );
}
