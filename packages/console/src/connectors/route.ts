// The style sheets load with the page, not with the console.
import '../charts/charts.css';
import '../commercial/commercial.css';
import '../policy/policy.css';
import '../tools/tools.css';
import './connectors.css';

export { ConnectorsPage } from './connectors-page.tsx';
