import { Button } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';

/** Below a list that has more. */
export function More({ list }: { list: UseInfiniteQueryResult<unknown> }) {
  if (!list.hasNextPage) return null;
  return (
    <p className="more">
      <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Show more
      </Button>
    </p>
  );
}
