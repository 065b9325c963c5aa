import { Drawer } from '@mantine/core';
import { NavigationContent } from './navigation.tsx';
import type { Me } from '../workspace/open-workspace.ts';

type Props = { me: Me; isOpen: boolean; onClose: () => void };

/** The navigation of a narrow screen. */
export function MenuDrawer({ me, isOpen, onClose }: Props) {
  return (
    <Drawer opened={isOpen} onClose={onClose} title="Countersign" size={280} padding="md">
      <div className="panel-drawn">
        <NavigationContent me={me} />
      </div>
    </Drawer>
  );
}
