import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { LiveContext } from '../workspace/live-context.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { followHints } from './follow-hints.ts';
import { keepSocket } from './socket.ts';
import { useSnapshot } from './snapshot.ts';
import { useFollowWaiting } from './waiting.ts';

/** Pages with live hints. A band above the page reports missing hints and unknown state. */
export function LivePages({ children }: { children: ReactNode }) {
  const { id, client } = useWorkspace();
  const queries = useQueryClient();
  const [isLive, setLive] = useState<boolean | null>(null);
  const navigate = useNavigate();
  const openInbox = useCallback(() => void navigate({ to: '/inbox' }), [navigate]);
  useFollowWaiting(openInbox);
  const hints = useMemo(() => followHints(queries, id), [queries, id]);
  useEffect(
    () =>
      keepSocket({
        kind: 'console',
        newTicket: async (signal) => (await client.createSessionTicket({ signal })).body.ticket,
        onMessage: hints.hear,
        onState: setLive,
      }),
    [client, hints],
  );
  return (
    <LiveContext value={isLive === true}>
      <StatusBand isCut={isLive === false} onPlace={hints.reach} />
      {children}
    </LiveContext>
  );
}

/** A band above every page. It reports which state is unknown or may be out of date. */
function StatusBand({ isCut, onPlace }: { isCut: boolean; onPlace: (seq: number) => void }) {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const { data, error } = useSnapshot();
  const isKernelAway = data?.kernel === 'unreachable';
  const seq = data?.seq ?? 0;
  useEffect(() => onPlace(seq), [seq, onPlace]);
  const isUnknown = error !== null || isKernelAway;
  // When the state becomes unknown, each page reads its data again. It marks the data as old if that fails.
  useEffect(() => {
    if (isUnknown) void queries.invalidateQueries({ queryKey: [id] });
  }, [isUnknown, queries, id]);
  const notices = [
    ...(error === null ? [] : [`${problemOf(error).title}. The page may be out of date.`]),
    ...(isKernelAway
      ? ['The kernel does not answer. No call goes through until it does, and what is in force is unknown.']
      : []),
    ...(isCut ? ['Live updates are interrupted. This page refreshes every 15 seconds.'] : []),
  ];
  if (notices.length === 0) return null;
  return (
    <div className="band" role="status">
      {notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
    </div>
  );
}
