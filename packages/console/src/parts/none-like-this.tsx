import { Button } from '@mantine/core';
import { EmptyState } from './empty-state.tsx';

type Props = { title: string; onAll: () => void };

/** The empty state of a filtered list. */
export function NoneLikeThis({ title, onAll }: Props) {
  const all = (
    <Button variant="default" onClick={onAll}>
      Show all of them
    </Button>
  );
  return (
    <EmptyState title={title} action={all}>
      No item matches the filters. The address of this page contains them.
    </EmptyState>
  );
}
