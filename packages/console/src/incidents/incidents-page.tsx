import { useParams } from '@tanstack/react-router';
import { IncidentDetail } from './incident-detail.tsx';
import { IncidentLines } from './incident-lines.tsx';
import { IncidentList } from './incident-list.tsx';

/** `/incidents`: the current stops and the incidents. `/incidents/{incident_id}`: one incident beside the list. */
export function IncidentsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  if (id === undefined) return <IncidentList />;
  return (
    <div className="beside">
      <IncidentLines openId={id} />
      <IncidentDetail id={id} key={id} />
    </div>
  );
}
