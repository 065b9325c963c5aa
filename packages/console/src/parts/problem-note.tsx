import { Button } from '@mantine/core';
import { problemOf } from '../api/problem.ts';
import { CopyText } from './copy-text.tsx';
import { Shown } from './shown.tsx';

type Props = { error: unknown; retry?: () => void };

/** Why a read or an act failed, and what to do. */
export function ProblemNote({ error, retry: again }: Props) {
  const { title, message, nextStep, code, requestId } = problemOf(error);
  return (
    <section className="note note-problem" role="alert">
      <h2>{title}</h2>
      <p>
        <Shown text={message} />
      </p>
      <p>{nextStep}</p>
      <p className="quiet">
        {code}
        {requestId !== null && (
          <>
            {' · request '}
            <CopyText text={requestId} />
          </>
        )}
      </p>
      {again && (
        <Button size="xs" variant="default" onClick={again}>
          Try again
        </Button>
      )}
    </section>
  );
}
