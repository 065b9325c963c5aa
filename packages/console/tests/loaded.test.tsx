import { stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { act, screen } from '@testing-library/react';
import { useState } from 'react';
import { getOps, getSnapshot } from '@countersign/contracts/control-plane';
import { useSnapshot } from '../src/live/snapshot.ts';
import { Loaded } from '../src/parts/loaded.tsx';
import { useWorkspaceQuery } from '../src/workspace/open-workspace.ts';
import { dimmed } from './_dimmed.ts';
import { snapshot } from './_snapshot.ts';

function Both() {
  const first = useSnapshot();
  const second = useWorkspaceQuery(['ops'], (client, signal) => client.getOps({ signal }));
  return (
    <section>
      <Loaded query={first}>{({ kernel }) => <Kept text={`kernel ${kernel}`} />}</Loaded>
      <Loaded query={second}>{({ kernel }) => <p>stops by kernel {kernel}</p>}</Loaded>
    </section>
  );
}

/** Keeps a number as state. A part that is mounted again starts at 0. */
function Kept({ text }: { text: string }) {
  const [count, setCount] = useState(0);
  return <div onClick={() => setCount(count + 1)}>{`${text}, ${count} clicks`}</div>;
}

const ops = {
  ...{ workspace_id: workspaceId, kernel: 'ok', boundary: null },
  ...{ fences: [], more_fences: false, unconfirmed: [] },
};

describe('data of a query', () => {
  it('is a skeleton until the first read ends', async () => {
    const { peer, show } = stage();
    const release = peer.holds(getSnapshot, snapshot());
    peer.answers(getOps, ops);
    show(<Both />);
    expect((await screen.findByRole('status')).textContent).toBe('Loading…');
    release();
    await screen.findByText('kernel ok, 0 clicks');
    expect(screen.queryByText('Loading…')).toBeNull();
  });

  it('stays, dimmed and with its time, when a later read fails, and keeps its state', async () => {
    const { peer, show, user, readAgain } = stage();
    peer.answers(getSnapshot, snapshot());
    peer.answers(getOps, ops);
    show(<Both />);
    await user.click(await screen.findByText('kernel ok, 0 clicks'));
    const [first, second] = [screen.getByText('kernel ok, 1 clicks'), await screen.findByText('stops by kernel ok')];
    expect([first.matches(dimmed), second.matches(dimmed)]).toEqual([false, false]);
    peer.isAwayFor(getSnapshot);
    await act(readAgain);
    await screen.findByText(/^Last updated at .* and may be out of date/);
    expect(screen.getByText('kernel ok, 1 clicks')).toBe(first);
    expect([first.matches(dimmed), second.matches(dimmed)]).toEqual([true, false]);
    peer.answers(getSnapshot, snapshot());
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByText('kernel ok, 1 clicks');
    expect(first.matches(dimmed)).toBe(false);
  });
});
