// The style sheet loads with the page, not with the console.
import './runs.css';

export { RunsPage } from './runs-page.tsx';
