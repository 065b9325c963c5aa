// The sheets load with the page, and not with the console.
import '../charts/charts.css';
import './tools.css';

export { ToolsPage } from './tools-page.tsx';
