import { Button } from '@mantine/core';
import { EmptyState } from './empty-state.tsx';

type Props = { title: string; onAll: () => void };

/** A list that was narrowed until nothing was left of it. */
export function NoneLikeThis({ title, onAll }: Props) {
  const all = (
    <Button variant="default" onClick={onAll}>
      Show all of them
    </Button>
  );
  return (
    <EmptyState title={title} action={all}>
      Nothing of this list is what you look for. The address of this page says what that is.
    </EmptyState>
  );
}
