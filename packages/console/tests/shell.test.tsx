import { stage, userId, workspaceId } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useLocation } from '@tanstack/react-router';
import { cleanup, screen } from '@testing-library/react';
import { getSnapshot } from '@countersign/contracts/control-plane';
import { followKeys, useShortcuts } from '../src/keys/shortcuts.ts';
import { KeyList } from '../src/shell/key-list.tsx';
import { NavigationPanel } from '../src/shell/navigation.tsx';
import { snapshot, type SnapshotFacts } from './_snapshot.ts';

const nothing = () => undefined;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  localStorage.clear();
});

describe('single keys', () => {
  function Keys({ name, pressed }: { name: string; pressed: string[] }) {
    useShortcuts([{ keys: 'x', says: 'Mark it', run: () => pressed.push('x') }]);
    return <p>{name}</p>;
  }

  async function showKeys({ show }: Pick<ReturnType<typeof stage>, 'show'>, name: string, isListed = false) {
    const pressed: string[] = [];
    show(
      <>
        <Keys name={name} pressed={pressed} />
        <KeyList isOpen={isListed} onClose={nothing} />
      </>,
    );
    stops.push(followKeys(document));
    await screen.findByText(name);
    return pressed;
  }

  it('are listed, and do nothing once they are switched off, even on a page that opens later', async () => {
    const here = stage();
    await showKeys(here, 'page with the list', true);
    await screen.findByText('Mark it');
    await here.user.click(await screen.findByLabelText(/^Single-key shortcuts/));
    cleanup();
    const pressed = await showKeys(here, 'later page');
    await here.user.keyboard('x');
    expect(pressed).toEqual([]);
  });

  it('work while they are switched on', async () => {
    const here = stage();
    const pressed = await showKeys(here, 'page');
    await here.user.keyboard('x');
    expect(pressed).toEqual(['x']);
  });

  it.each(['Control', 'Meta', 'Alt'])('are left to the browser together with %s', async (modifier) => {
    const here = stage();
    const pressed = await showKeys(here, 'page');
    await here.user.keyboard(`{${modifier}>}x{/${modifier}}`);
    expect(pressed).toEqual([]);
    await here.user.keyboard('x');
    expect(pressed).toEqual(['x']);
  });
});

describe('the workspace switch', () => {
  function Place() {
    const place = useLocation({ select: ({ pathname, searchStr }) => pathname + searchStr });
    return <output>{place}</output>;
  }

  it('opens the same page of another workspace, without the open panel', async () => {
    const second = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAW';
    const workspaces = [
      { id: workspaceId, name: 'Vault', role: 'member' },
      { id: second, name: 'Own', role: 'owner' },
    ];
    const me = { user: { id: userId, name: 'Ada', email: 'ada@example.org' }, workspaces } as never; // branded by the schema
    const { user, peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 2, waiting_for_you: 2 } }));
    show(
      <>
        <NavigationPanel me={me} onMenu={nothing} />
        <Place />
      </>,
      { path: `/runs/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV?workspace=${workspaceId}` },
    );
    await screen.findByRole('link', { name: 'Inbox 2 waiting for you' });
    const choice = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Workspace' });
    expect(choice.value).toBe(workspaceId);
    await user.selectOptions(choice, 'Own (owner)');
    expect(screen.getByRole('status').textContent).toBe(`/runs?workspace=${second}`);
  });
});

describe('the numbers of the navigation', () => {
  const me = { user: { id: userId, name: 'Ada', email: 'ada@example.org' }, workspaces: [] } as never; // branded by the schema
  const counted = (facts: SnapshotFacts) => {
    const here = stage();
    here.peer.answers(getSnapshot, snapshot(facts));
    const menu: string[] = [];
    here.show(<NavigationPanel me={me} onMenu={() => menu.push('opened')} />);
    return { ...here, menu };
  };

  it('count open incidents, and tools that are changed or not approved', async () => {
    counted({ openIncidents: 3, counts: { unapproved_tools: 1_000 } });
    await screen.findByRole('link', { name: 'Stops and incidents 3 open' });
    await screen.findByRole('link', { name: 'Tools 1000+ changed or not approved' });
    expect(screen.queryByRole('link', { name: /waiting for you/ })).toBeNull();
  });

  it('are hidden when nothing needs action, and each page keeps its name', async () => {
    const { user, menu } = counted({});
    await screen.findByRole('link', { name: 'Stops and incidents' });
    await screen.findByRole('link', { name: 'Tools' });
    await user.click(screen.getByRole('button', { name: 'Menu' }));
    expect(menu).toEqual(['opened']);
  });

  it('show open incidents but no tools while the kernel is unavailable', async () => {
    counted({ isAway: true, openIncidents: 1 });
    await screen.findByRole('link', { name: 'Stops and incidents 1 open' });
    await screen.findByRole('link', { name: 'Tools' });
  });
});
