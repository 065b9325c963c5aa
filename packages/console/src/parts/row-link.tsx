import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { useWorkspace } from '../workspace/open-workspace.ts';

/**
 * A link to a page of this workspace, for very long lists. `<Link>` searches all routes whenever a row becomes visible.
 * `RowLink` searches them only on a click.
 */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  const router = useRouter();
  const { id } = useWorkspace();
  const follow = (event: MouseEvent) => {
    // Modified clicks belong to the browser: new tab, new window or download.
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
