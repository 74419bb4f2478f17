import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import weka.classifiers.rules.JRip;
import weka.classifiers.rules.Rule;
import weka.core.Attribute;
import weka.core.DenseInstance;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Version;

/**
 * Builds JRip, with its defaults but for the seed, and applies it; started by peer_jrip.py.
 *
 * Arguments: a file with the data, the number of builds before those that are timed, seeds joined
 * by commas, labels joined by commas. Prints the version; then for each label and seed a line with
 * the label, the seed, the CPU seconds of the building thread, rules without the default rule,
 * conditions, and the predictions for the test rows, a digit each.
 */
public class JRipWorker {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  static int[] numbers(String joined) {
    return Arrays.stream(joined.split(",")).mapToInt(Integer::parseInt).toArray();
  }

  static double[][] table(DataInputStream file, int rows, int columns) throws Exception {
    double[][] cells = new double[rows][columns];
    for (double[] row : cells)
      for (int j = 0; j < columns; j++) row[j] = file.readDouble();
    return cells;
  }

  static Instances instances(double[][] X, double[][] Y, int label, int[] kinds) {
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int j = 0; j < kinds.length; j++) {
      ArrayList<String> categories = new ArrayList<>();
      for (int k = 0; k < kinds[j]; k++) categories.add("c" + k);
      attributes.add(kinds[j] == 0 ? new Attribute("x" + j) : new Attribute("x" + j, categories));
    }
    attributes.add(new Attribute("y", new ArrayList<>(Arrays.asList("0", "1"))));
    Instances rows = new Instances("rows", attributes, X.length);
    rows.setClassIndex(kinds.length);
    for (int i = 0; i < X.length; i++) {
      double[] row = Arrays.copyOf(X[i], kinds.length + 1);
      row[kinds.length] = Y[i][label];
      rows.add(new DenseInstance(1.0, row));
    }
    return rows;
  }

  static JRip built(Instances train, int seed) throws Exception {
    JRip learner = new JRip();
    learner.setSeed(seed);
    learner.buildClassifier(train);
    return learner;
  }

  static void report(Instances train, Instances test, int label, int seed) throws Exception {
    long start = CLOCK.getCurrentThreadCpuTime();
    JRip learner = built(train, seed);
    double seconds = (CLOCK.getCurrentThreadCpuTime() - start) * 1e-9;
    int rules = 0, conditions = 0;
    for (Rule rule : learner.getRuleset()) {
      rules += rule.hasAntds() ? 1 : 0;
      conditions += (int) rule.size();
    }
    StringBuilder predictions = new StringBuilder();
    for (Instance row : test) predictions.append((int) learner.classifyInstance(row));
    System.out.println(label + " " + seed + " " + seconds + " " + rules + " " + conditions + " "
        + predictions);
  }

  public static void main(String[] arguments) throws Exception {
    DataInputStream file =
        new DataInputStream(new BufferedInputStream(new FileInputStream(arguments[0])));
    int nTrain = file.readInt(), nTest = file.readInt();
    int nFeatures = file.readInt(), nLabels = file.readInt();
    int[] kinds = new int[nFeatures];
    for (int j = 0; j < nFeatures; j++) kinds[j] = file.readInt();
    double[][] trainX = table(file, nTrain, nFeatures), trainY = table(file, nTrain, nLabels);
    double[][] testX = table(file, nTest, nFeatures), testY = table(file, nTest, nLabels);
    System.out.println(Version.VERSION + " Java " + System.getProperty("java.version"));
    for (int label : numbers(arguments[3])) {
      Instances train = instances(trainX, trainY, label, kinds);
      Instances test = instances(testX, testY, label, kinds);
      for (int i = 0; i < Integer.parseInt(arguments[1]); i++) built(train, 1);
      for (int seed : numbers(arguments[2])) report(train, test, label, seed);
    }
  }
}
