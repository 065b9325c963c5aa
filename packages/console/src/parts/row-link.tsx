import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { useWorkspace } from '../workspace/open-workspace.ts';

/**
 * A link in a very long list, to a page of this workspace. `<Link>` computes its address from all routes, each time that a row comes into sight. This one does it on a click.
 */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const router = useRouter();
  const { id } = useWorkspace();
  const follow = (event: MouseEvent) => {
    // Keys for the browser itself: another tab, another window, a download.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to, search: (before: object) => before });
  };
  return (
    <a href={`${router.basepath}${to}?workspace=${id}`} onClick={follow}>
      {children}
    </a>
  );
}
