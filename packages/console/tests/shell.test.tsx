import { stage, userId, workspaceId } from './_dom.tsx';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useLocation } from '@tanstack/react-router';
import { cleanup, screen } from '@testing-library/react';
import { getSnapshot } from '@countersign/contracts/control-plane';
import { followKeys, useShortcuts } from '../src/keys/shortcuts.ts';
import { KeyList } from '../src/shell/key-list.tsx';
import { NavigationPanel } from '../src/shell/navigation.tsx';
import { snapshot } from './_snapshot.ts';

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

  it('are listed, and do nothing once they are switched off, also on a page that is opened later', async () => {
    const here = stage();
    await showKeys(here, 'page with the list', true);
    await screen.findByText('Mark it');
    await here.user.click(await screen.findByLabelText(/^Single-key shortcuts/));
    cleanup();
    const pressed = await showKeys(here, 'later page');
    await here.user.keyboard('x');
    expect(pressed).toEqual([]);
  });

  it('act while they are on', async () => {
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

describe('the switch of workspaces', () => {
  function Place() {
    const place = useLocation({ select: ({ pathname, searchStr }) => pathname + searchStr });
    return <output>{place}</output>;
  }

  it('opens the same page of another workspace, without what was open on the page', async () => {
    const other = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAW';
    const workspaces = [
      { id: workspaceId, name: 'Vault', role: 'member' },
      { id: other, name: 'Own', role: 'owner' },
    ];
    const me = { user: { id: userId, name: 'Ada', email: 'ada@example.org' }, workspaces } as never; // branded by the schema
    const { user, peer, show } = stage();
    peer.answers(getSnapshot, snapshot({ counts: { pending_approvals: 2, waiting_for_you: 2 } }));
    show(
      <>
        <NavigationPanel me={me} />
        <Place />
      </>,
      { path: `/runs/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV?workspace=${workspaceId}` },
    );
    await screen.findByRole('link', { name: 'Inbox 2 waiting for you' });
    const choice = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Workspace' });
    expect(choice.value).toBe(workspaceId);
    await user.selectOptions(choice, 'Own (owner)');
    expect(screen.getByRole('status').textContent).toBe(`/runs?workspace=${other}`);
  });
});
