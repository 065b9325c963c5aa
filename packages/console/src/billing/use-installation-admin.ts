import { useQuery } from '@tanstack/react-query';
import { isAppError } from '@countersign/contracts';
import { quiet } from '../commercial/client.ts';

/** Whether the person administers the installation. `false` until the service has answered. */
export function useIsInstallationAdmin(): boolean {
  const { data = false } = useQuery({
    queryKey: ['installation-admin'],
    queryFn: ({ signal }) => isAdmin(signal),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return data;
}

async function isAdmin(signal: AbortSignal): Promise<boolean> {
  try {
    await quiet.listAdministeredOrgs({ query: { limit: 1 }, signal });
    return true;
  } catch (error) {
    // The service checks the role first, so only an administrator is asked for a proof of presence.
    if (isAppError(error) && error.code === 'REAUTHENTICATION_REQUIRED') return true;
    if (isAppError(error) && error.code === 'PERMISSION_DENIED') return false;
    throw error;
  }
}
