import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemNote } from './problem-note.tsx';
import { Skeleton } from './skeleton.tsx';

type Props<Data> = {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
};

/**
 * Shows the data of a query. If a later read fails, the shown data is dimmed and marked as old, so that it is not taken
 * for the current state. The style sheet dims everything between the two marks, because an element around the data
 * would change the layout.
 */
export function Loaded<Data>({ query, children }: Props<Data>) {
  const { data, error, dataUpdatedAt } = query;
  const again = () => void query.refetch();
  if (data === undefined) return error === null ? <Skeleton /> : <ProblemNote error={error} retry={again} />;
  const isOld = error !== null;
  return (
    <>
      {isOld && (
        <>
          <ProblemNote error={error} retry={again} />
          <p className="stale old-start">
            Last updated at {new Date(dataUpdatedAt).toLocaleTimeString('en-GB')} and may be out of date.
          </p>
        </>
      )}
      {children(data)}
      {isOld && <span className="old-end" hidden />}
    </>
  );
}
