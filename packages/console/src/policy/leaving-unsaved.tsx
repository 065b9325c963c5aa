import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';

/** Asks for confirmation before a page with unsaved text is left in any way. */
export function LeavingUnsaved({ isUnsaved }: { isUnsaved: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: () => isUnsaved,
    enableBeforeUnload: isUnsaved,
    disabled: !isUnsaved,
    withResolver: true,
  });
  const question =
    leaving.status === 'blocked'
      ? {
          title: 'Leave the draft unsaved?',
          says: 'Unsaved changes would be lost.',
          act: 'Discard changes',
          run: () => Promise.resolve(leaving.proceed()),
        }
      : null;
  return <ConfirmDialog question={question} onClose={() => leaving.reset?.()} />;
}
