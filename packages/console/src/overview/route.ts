// The style sheets load with the page, not with the console.
import '../charts/charts.css';
import './overview.css';

export { OverviewPage } from './overview-page.tsx';
